"""Lists of mentions without documents: XL-BEL, COMETA, AskAPatient."""

import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spacy_bergamot.languages import LANGUAGES
from training.corpora.builder import CorpusBuilder
from training.corpora.text import numbered
from training.corpora.tsv import columns_of, rows

_XLBEL = re.compile(r"[^\s|]+(\|[^\s|]+)*\|\|[^|\n]")
_IDS = re.compile(r"[|+]")
_TAGS = re.compile(r"</?tgt>")
_ASKAPATIENT = re.compile(r"\.fold-\d+\.")


class Line(NamedTuple):
    """What a `CUI||mention||context` line says.

    ids (list[str]): `C1|C2` are alternatives, `C1+C2` go together. all_of (bool): They do.
    mention, context (str): As they are written; the context is empty where there is none.
    """

    ids: list[str]
    mention: str
    context: str
    all_of: bool


def parse_line(line: str) -> Line | None:
    """Return what a line says, or None where it has no id or no bars."""
    ids, bars, rest = line.partition("||")
    if not ids or not bars:
        return None
    mention, _, context = rest.partition("||")
    return Line(_IDS.split(ids), mention, context, "+" in ids)


def sniff_xlbel(path: Path, head: str) -> bool:
    """Tell whether a file is a list of XL-BEL; see `Form`."""
    return path.name.endswith((".txt", ".txt.gz")) and _XLBEL.match(head) is not None


def read_xlbel(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `CUI||mention` (v0.0) and `CUI||mention||context` (v1.0) lines.

    The language is that of a name such as de_1k_test_query.txt. The
    context loses its <tgt> tags.
    """
    for path in files:
        document = path.name.partition(".")[0]
        language = LANGUAGES.get(document.partition("_")[0], "")
        for number, line in numbered(path):
            entry = parse_line(line)
            if entry is None:
                builder.skip("malformed line", f"{path}:{number}")
                continue
            builder.mention(
                document,
                entry.mention,
                entry.ids,
                place=f"{path}:{number}",
                context=_TAGS.sub("", entry.context),
                language=language,
                all_of=entry.all_of,
            )


def sniff_cometa(path: Path, head: str) -> bool:
    """Tell whether a file is a table of COMETA; see `Form`."""
    return {"Term", "General SNOMED ID"} <= columns_of(head)


def _read_cometa(column: str, files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    for path in files:
        document = path.name.partition(".")[0]
        for place, row in rows(path, ("Term", column), builder):
            context = row.get("Example", "")
            builder.mention(document, row["Term"], [row[column]], place=place, context=context)


read_cometa = partial(_read_cometa, "General SNOMED ID")
read_cometa_specific = partial(_read_cometa, "Specific SNOMED ID")


def sniff_askapatient(path: Path, head: str) -> bool:
    """Tell whether a file is a fold of AskAPatient; see `Form`."""
    return _ASKAPATIENT.search(path.name) is not None and "\t" in head.partition("\n")[0]


def read_askapatient(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read folds of `code<tab>concept's name<tab>phrase`, in UTF-8 or ISO 8859-1."""
    for path in files:
        document = path.name.removesuffix(".txt")
        for number, line in numbered(path, fallback="latin-1"):
            fields = line.split("\t")
            if len(fields) < 3:
                builder.skip("malformed line", f"{path}:{number}")
                continue
            builder.mention(document, fields[2], [fields[0]], place=f"{path}:{number}")
