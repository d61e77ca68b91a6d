"""Orphadata's XML products: the disorders' names in one language."""

from typing import IO
from xml.etree import ElementTree

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.records import Records, language_of


def read_orphadata(stream: IO[bytes], where: str, records: Records) -> None:
    """Add names and synonyms of every disorder. RAISES (BergamotError): T116."""
    try:
        events = ElementTree.iterparse(stream, events=("start", "end"))
        _, root = next(events)
        if root.tag != "JDBOR":
            raise BergamotError(
                Errors.T116, path=where, what="Orphadata", reason=f"its root is {root.tag}"
            )
        for event, element in events:
            if event == "end" and element.tag == "Disorder":
                _disorder(element, records)
                element.clear()
    except (ElementTree.ParseError, StopIteration, UnicodeDecodeError) as reason:
        what = "Orphadata XML"
        line = reason.position[0] if isinstance(reason, ElementTree.ParseError) else 1
        place = f"{where}:{line}"
        raise BergamotError(Errors.T116, path=place, what=what, reason=reason) from None


def _disorder(element: ElementTree.Element, records: Records) -> None:
    code = element.findtext("OrphaCode") or element.findtext("OrphaNumber")
    if not code:
        return
    names = [(name, "PT") for name in element.findall("Name")]
    names += [(name, "SY") for name in element.findall("SynonymList/Synonym")]
    for name, kind in names:
        language = language_of(name.get("lang", "en"))
        records.name(f"ORPHA:{code}", name.text or "", kind, language=language, suppressed=False)
