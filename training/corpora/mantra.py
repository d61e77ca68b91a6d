"""Mantra GSC: one XML file a language and source, `Corpus/document/unit` with `text` and `e`."""

import re
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from spacy_bergamot.languages import LANGUAGES
from training.corpora.builder import CorpusBuilder
from training.corpora.text import read_text
from training.errors import BergamotError, Errors

_NAME = re.compile(r"_GSC_([a-z]{2})_")


def sniff(path: Path, head: str) -> bool:
    """Tell whether a file is a corpus of Mantra GSC; see `Form`."""
    return path.suffix in (".xml", ".gz") and "<Corpus" in head


def read(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read the XML files; a unit is a document, called by file and unit.

    The language is the attribute `lang`, or that of a name such as Medline_GSC_de_man.xml.

    RAISES (BergamotError): B057 naming the line that is no XML.
    """
    for path in files:
        try:
            corpus = fromstring(read_text(path))
        except ParseError as reason:
            line = reason.position[0]
            said = f"no XML: {reason}"
            raise BergamotError(Errors.B057, path=path, line=line, reason=said) from None
        name = _NAME.search(path.name)
        code = (corpus.get("lang") or (name[1] if name else "")).lower()
        for unit in corpus.iter("unit"):
            _take(unit, path, builder, language=LANGUAGES.get(code, code.upper()))


def _take(unit: Element, path: Path, builder: CorpusBuilder, *, language: str) -> None:
    name = unit.get("id", "")
    document, place = f"{path.name.partition('.')[0]}/{name}", f"{path} {name}"
    builder.document(document, unit.findtext("text") or "", language=language, place=place)
    for entity in unit.iter("e"):
        start, length = entity.get("offset", ""), entity.get("len", "")
        if not (start.isdigit() and length.isdigit()):
            builder.skip("malformed annotation", place)
            continue
        builder.mention(
            document,
            entity.text or None,
            [entity.get("cui", "")],
            place=place,
            spans=[(int(start), int(start) + int(length))],
            type=entity.get("grp", ""),
        )
