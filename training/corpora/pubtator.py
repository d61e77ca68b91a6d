"""PubTator: `PMID|t|title`, `PMID|a|abstract`, then tab-separated annotations, a document a block.

MedMentions, BC5CDR and the NCBI disease corpus come so. An annotation has PMID, start, end,
mention, type, id, and in BC5CDR the parts of a composite mention; offsets run over title, one
character, abstract.
"""

import re
from pathlib import Path

from training.corpora.builder import CorpusBuilder
from training.corpora.text import numbered

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_SEPARATORS = re.compile(r"[|+;,]")


def sniff(path: Path, head: str) -> bool:
    """Tell whether a file is PubTator's format; see `Form`."""
    return re.match(r"[^|\s]+\|t\|", head) is not None


def read(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `.txt` or `.PubTator` files, also gzipped."""
    for path in files:
        _read_file(path, builder)


def _read_file(path: Path, builder: CorpusBuilder) -> None:
    title: tuple[str, str] | None = None
    annotations: list[tuple[str, list[str]]] = []
    for number, line in numbered(path):
        place = f"{path}:{number}"
        text = _TEXT.match(line)
        if text is None:
            annotations.append((place, line.split("\t")))
        elif text[2] == "t":
            if title is not None:
                builder.document(*title, place=place)
            title = (text[1], text[3])
        elif title is None or title[0] != text[1]:
            builder.skip("abstract without its title", place)
        else:
            builder.document(title[0], f"{title[1]} {text[3]}", place=place)
            title = None
    if title is not None:
        builder.document(*title, place=path)
    for place, fields in annotations:
        _take(fields, builder, place)


def _take(fields: list[str], builder: CorpusBuilder, place: str) -> None:
    if len(fields) == 4 and not fields[1].isdigit():
        return builder.skip("relation", place)
    if len(fields) < 5 or not (fields[1].isdigit() and fields[2].isdigit()):
        return builder.skip("malformed line", place)
    document, start, end, mention, kind = fields[:5]
    ids = fields[5] if len(fields) > 5 else ""
    return builder.mention(
        document,
        mention,
        _SEPARATORS.split(ids),
        place=place,
        spans=[(int(start), int(end))],
        type=kind,
        all_of=kind == "CompositeMention" or len(fields) > 6 or "+" in ids,
    )
