"""ClaML, the Classification Markup Language: ICD-10 of the WHO, ICD-10-GM, OPS and others."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from spacy_bergamot.kb_import.ontology.records import PREFIXES, Records, language_of

_LANGUAGE = "xml:lang"
_LEFT_OUT = "Reference"  # codes of other classes in the midst of a label


class Claml:
    """Adds the elements of one file: Title, then classes of modifiers, then classes."""

    def __init__(self, where: str, records: Records) -> None:
        self.where = where
        self.records = records
        self.prefix = ""
        self.modifiers: dict[str, dict[str, tuple[str, str]]] = {}

    def add(self, element: Element, line: int) -> None:
        """Add an element; one without what it needs is counted as malformed.

        element (Element): Of the file. line (int): Where it ends.
        """
        code = (element.get("code") or "").strip()
        if element.tag == "Title":
            self._title(element)
        elif not code or any(c.isspace() or c == "|" for c in code) or not self.prefix:
            what = f"{element.tag} {code!r} has no code or no title of its classification"
            self.records.malformed(f"{self.where}:{line}", what)
        elif element.tag == "ModifierClass":
            text, language = next(_labels(element, "preferred"), ("", ""))
            self.modifiers.setdefault(element.get("modifier", ""), {})[code] = text, language
        elif not self._class(code, element):
            self.records.malformed(f"{self.where}:{line}", f"Class {code} has no preferred label")

    def _title(self, element: Element) -> None:
        name = element.get("name") or element.text or ""
        prefix = re.sub(r"[^A-Z0-9]", "", name.upper())
        self.prefix = PREFIXES.get(prefix, prefix)
        said = {"version": element.get("version", ""), "name": (element.text or name).strip()}
        self.records.sources.say(self.prefix, **said)

    def _class(self, code: str, element: Element) -> bool:
        """A long title is said where the short one means something only below its parent's."""
        short, full = (list(_labels(element, kind)) for kind in ("preferred", "preferredLong"))
        if not short and not full:
            return False
        accession = self._named(code, *(full or short)[0])
        for text, language in [*short, *full][1:]:
            self.records.name(accession, text, "ET", language=language, suppressed=bool(full))
        for text, language in _labels(element, "inclusion"):
            self.records.synonym(accession, text, "narrow", language=language)
        for text, _ in _labels(element, "definition"):
            self.records.definition(accession, text)
        for above in element.findall("SuperClass"):
            self._below(accession, above.get("code", ""))
        self._subclasses(code, (full or short)[0], element)
        return True

    def _subclasses(self, code: str, title: tuple[str, str], element: Element) -> None:
        """Add the classes that modifiers make of this one: a digit more, a title more."""
        made = [(code, title[0])]
        for by in element.findall("ModifiedBy"):
            choices = self.modifiers.get(by.get("code", ""), {})
            valid = {one.get("code") for one in by.findall("ValidModifierClass")}
            below = []
            for above, text in made:
                for digit, (more, language) in choices.items():
                    if valid and digit not in valid:
                        continue
                    self._below(self._named(above + digit, f"{text}: {more}", language), above)
                    below.append((above + digit, f"{text}: {more}"))
            made = below or made

    def _named(self, code: str, text: str, language: str) -> str:
        accession = f"{self.prefix}:{code}"
        self.records.name(accession, text, "PT", language=language, suppressed=False)
        self.records.codes.setdefault(accession, (self.prefix, code))
        return accession

    def _below(self, accession: str, above: str) -> None:
        self.records.relations.append((accession, "is_a", f"{self.prefix}:{above}"))


def _labels(element: Element, kind: str) -> Iterator[tuple[str, str]]:
    """Yield text and language of the labels of a kind of rubric."""
    for rubric in element.findall("Rubric"):
        if rubric.get("kind") == kind:
            for label in rubric.findall("Label"):
                text = " ".join(" ".join(_texts(label)).split())
                if text:
                    yield text, language_of(label.get(_LANGUAGE, "en"))


def _texts(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag != _LEFT_OUT:
            yield from _texts(child)
        yield child.tail or ""
