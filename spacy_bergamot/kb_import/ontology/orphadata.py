"""Orphadata's XML products: the disorders' names in one language."""

from xml.etree.ElementTree import Element

from spacy_bergamot.kb_import.ontology.records import Records, language_of


def add_disorder(element: Element, records: Records) -> None:
    """Add names and synonyms of a disorder.

    element (Element): Of the file.
    records (Records): Gets what is read.
    """
    code = element.findtext("OrphaCode") or element.findtext("OrphaNumber")
    if not code:
        return
    names = [(name, "PT") for name in element.findall("Name")]
    names += [(name, "SY") for name in element.findall("SynonymList/Synonym")]
    for name, kind in names:
        language = language_of(name.get("lang", "en"))
        records.name(f"ORPHA:{code}", name.text or "", kind, language=language, suppressed=False)
