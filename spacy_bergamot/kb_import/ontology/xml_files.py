"""XML of ontologies, element by element; a file that declares entities is refused."""

from collections.abc import Iterator
from typing import IO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.claml import Claml
from spacy_bergamot.kb_import.ontology.records import Records, language_of

_PIECE = 1 << 16
_WANTED = {"JDBOR": {"Disorder"}, "ClaML": {"Title", "ModifierClass", "Class"}}


def read_xml(stream: IO[bytes], where: str, records: Records) -> None:
    """Add names of Orphadata's XML or of ClaML, told apart by their roots.

    stream (IO): The open file. where (str): Its name, for messages.
    records (Records): Gets what is read.
    RAISES (BergamotError): T116 for what is neither, T158 for a file that declares entities.
    """
    reader = _Reader(where)
    claml = Claml(where, records)
    try:
        for line, element in reader.elements(stream):
            if element.tag == "Disorder":
                _disorder(element, records)
            else:
                claml.add(element, line)
    except expat.ExpatError as reason:
        place = f"{where}:{reason.lineno}"
        what = "XML of Orphadata or ClaML"
        raise BergamotError(Errors.T116, path=place, what=what, reason=reason) from None


def _disorder(element: Element, records: Records) -> None:
    """Add names and synonyms of a disorder of Orphadata, in one language."""
    code = element.findtext("OrphaCode") or element.findtext("OrphaNumber")
    if not code:
        return
    names = [(name, "PT") for name in element.findall("Name")]
    names += [(name, "SY") for name in element.findall("SynonymList/Synonym")]
    for name, kind in names:
        language = language_of(name.get("lang", "en"))
        records.name(f"ORPHA:{code}", name.text or "", kind, language=language, suppressed=False)


class _Reader:
    """Builds the wanted elements of a file one by one, each with all that is in it."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.wanted: set[str] = set()
        self.builder: TreeBuilder | None = None
        self.depth = 0
        self.began = 0
        self.done: list[tuple[int, Element]] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.EntityDeclHandler = self._refuse  # a few lines of them can fill the memory

    def elements(self, stream: IO[bytes]) -> Iterator[tuple[int, Element]]:
        """Yield the line where each begins, and the element."""
        for piece in iter(lambda: stream.read(_PIECE), b""):
            self.parser.Parse(piece)
            yield from self.done
            self.done.clear()
        self.parser.Parse(b"", True)
        yield from self.done

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.wanted:
            if tag not in _WANTED:
                what, reason = "XML of Orphadata or ClaML", f"its root is {tag}"
                raise BergamotError(Errors.T116, path=self.where, what=what, reason=reason)
            self.wanted = _WANTED[tag]
        elif self.builder is None and tag in self.wanted:
            self.builder = TreeBuilder()
            self.began = self.parser.CurrentLineNumber
        if self.builder is not None:
            self.depth += 1
            self.builder.start(tag, attributes)

    def _data(self, text: str) -> None:
        if self.builder is not None:
            self.builder.data(text)

    def _end(self, tag: str) -> None:
        if self.builder is None:
            return
        self.builder.end(tag)
        self.depth -= 1
        if not self.depth:
            self.done.append((self.began, self.builder.close()))
            self.builder = None

    def _refuse(self, name: str, *_: object) -> None:
        place = f"{self.where}:{self.parser.CurrentLineNumber}"
        raise BergamotError(Errors.T158, path=place, name=name)
