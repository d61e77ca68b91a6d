"""Tables of spans beside text files: CodiEsp, DisTEMIST, BioNNE-L."""

import re
from pathlib import Path

from training.corpora.brat import OFFSETS, parse_spans
from training.corpora.builder import CorpusBuilder
from training.corpora.records import json_records
from training.corpora.text import head, language_of, numbered, read_text
from training.corpora.tsv import columns_of, rows
from training.errors import BergamotError, Errors

_CODIESP = re.compile(r"[^\t\n]+\t(DIAGNOSTICO|PROCEDIMIENTO)\t[^\t\n]*\t[^\t\n]*\t\d")


class Texts:
    """The `.txt` files of a folder, by name; without any of them offsets do not count.

    Of several with one name the first in order counts: CodiEsp has its texts in text_files, and
    their translations, which the offsets are not of, in text_files_en.
    """

    def __init__(self, root: Path, builder: CorpusBuilder) -> None:
        self.paths = {path.stem: path for path in sorted(root.rglob("*.txt"), reverse=True)}
        self.builder = builder
        self._taken: set[str] = set()

    def mention(
        self, document: str, mention: str, ids: list[str], spans: str, *, place: str, type: str
    ) -> None:
        """Take a mention at `1 5;8 12` of a document; several ids are right together."""
        language = language_of(Path(document))
        if not OFFSETS.fullmatch(spans):
            return self.builder.skip("malformed line", place)
        if self.paths and document not in self._taken:
            if document not in self.paths:
                return self.builder.skip("annotation without its text file", place)
            path = self.paths[document]
            self.builder.document(document, read_text(path), language=language, place=path)
            self._taken.add(document)
        return self.builder.mention(
            document,
            mention,
            ids,
            place=place,
            spans=parse_spans(spans) if self.paths else (),
            type=type,
            language=language,
            all_of=len(ids) > 1,
        )


def sniff_codiesp(path: Path, head: str) -> bool:
    """Tell whether a file is a table of CodiEsp; see `Form`."""
    return path.suffix == ".tsv" and _CODIESP.match(head) is not None


def read_codiesp(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `article, DIAGNOSTICO or PROCEDIMIENTO, code, mention, offsets` without a header.

    They are trainX.tsv, devX.tsv and testX.tsv; the D and P tables beside them have no mentions.
    """
    texts = Texts(root, builder)
    for path in files:
        for number, line in numbered(path):
            place, fields = f"{path}:{number}", line.split("\t")
            if len(fields) != 5:
                builder.skip("malformed line", place)
                continue
            document, kind, code, mention, spans = fields
            texts.mention(document, mention, [code], spans.strip(), place=place, type=kind)


def sniff_distemist(path: Path, head: str) -> bool:
    """Tell whether a file is a table of DisTEMIST and its kin; see `Form`."""
    return {"filename", "off0", "off1"} <= columns_of(head)


def read_distemist(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `filename, mark, label, off0, off1, span, code, semantic_rel`; codes may be joined by +.

    Tables of mentions alone, those of subtrack 1, give NIL; beside tables with codes they are left
    out, as their mentions are the same.
    """
    texts = Texts(root, builder)
    coded = [path for path in files if "code" in columns_of(head(path))]
    if coded:
        builder.skip("table without codes beside others", root, len(files) - len(coded))
    for path in coded or files:
        for place, row in rows(path, ("filename", "off0", "off1", "span"), builder):
            texts.mention(
                row["filename"],
                row["span"],
                row.get("code", "").split("+"),
                f"{row['off0']} {row['off1']}",
                place=place,
                type=row.get("label", ""),
            )


def sniff_bionne(path: Path, head: str) -> bool:
    """Tell whether a file is a table of BioNNE; see `Form`."""
    return "UMLS_CUI" in head and "document_id" in head and path.suffix in (".tsv", ".json")


def read_bionne(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `document_id, text, entity_type, spans (118-124,130-140), UMLS_CUI` as TSV or JSON.

    A document's language is the end of its id, such as 25823273_ru.

    RAISES (BergamotError): B057 if a `.json` is no list of records.
    """
    needed = ("document_id", "text", "entity_type", "spans", "UMLS_CUI")
    texts = Texts(root, builder)
    for path in files:
        table = json_records(path) if path.suffix == ".json" else rows(path, needed, builder)
        for place, row in table:
            if missing := [name for name in needed if name not in row]:
                raise BergamotError(Errors.T128, path=path, column=missing[0], columns=list(row))
            texts.mention(
                row["document_id"],
                row["text"],
                [row["UMLS_CUI"] or ""],
                row["spans"].replace("-", " ").replace(",", ";"),
                place=place,
                type=row["entity_type"],
            )
