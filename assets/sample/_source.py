"""Parse and check the sources of the sample: concept blocks and marked sentences.

The format is described in source/FORMAT.md. Problems are collected, not raised, so that one run
shows all of them.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from _umls import LANGUAGES, RELATIONS

ENGLISH = "ENG"
NIL = "NIL"

_CUI = re.compile(r"C\d{7}")
_HEADER = re.compile(r"(C\d{7})\|([^|]*)\|(.*)")
_LANGUAGE = re.compile(r"[A-Z]{3}")
_MARK = re.compile(r"\[([^\[\]|]+)\|(C\d{7}|NIL)\]")


class Place(NamedTuple):
    """Where in the sources something stands."""

    file: str
    line: int


class Problem(NamedTuple):
    """What is wrong, and where."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place.file}:{self.place.line}: {self.text}"


class Name(NamedTuple):
    """One name of a concept in one language."""

    text: str
    is_abbreviation: bool


class Link(NamedTuple):
    """One relation of a concept: `key` is a key of RELATIONS, `target` a CUI."""

    key: str
    target: str
    place: Place


@dataclass
class Concept:
    """A concept block.

    names: by language, the preferred one first.
    keys: the keys of the block's lines, to notice repeated ones.
    """

    cui: str
    place: Place
    types: list[str] = field(default_factory=list)
    names: dict[str, list[Name]] = field(default_factory=dict)
    definition: str = ""
    links: list[Link] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def add_names(self, language: str, names: list[Name]) -> None:
        """Append names to those of a language; a repeated name counts once."""
        known = self.names.setdefault(language, [])
        for name in names:
            if name.text not in {other.text for other in known}:
                known.append(name)


class Mention(NamedTuple):
    """A marked stretch of a sentence, with character offsets (end exclusive)."""

    start: int
    end: int
    text: str
    concept_id: str


@dataclass
class Sentence:
    """A sentence of the gold standard, without its marks."""

    language: str
    text: str
    mentions: list[Mention]
    place: Place


@dataclass
class Source:
    """Everything that the source files say, and what is wrong with it."""

    concepts: dict[str, Concept] = field(default_factory=dict)
    sentences: list[Sentence] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    dropped_links: int = 0

    def report(self, place: Place, text: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(place, text))


def read_source(
    folder: Path, semantic_types: Collection[str], *, allow_dangling: bool = False
) -> Source:
    """Read every concepts_*.txt and gold_*.txt of a folder, in the order of their names.

    folder (Path): Where the source files are.
    semantic_types (Collection[str]): The TUIs that concepts may have.
    allow_dangling (bool): Drop and count relations to unknown concepts; else they are problems.
    RETURNS (Source): What was read. It is usable only if it has no problems.
    """
    source = Source()
    for path in sorted(folder.glob("concepts_*.txt")):
        _read_concepts(path, source)
    for path in sorted(folder.glob("gold_*.txt")):
        _read_sentences(path, source)
    if not source.concepts:
        source.report(Place(folder.name, 0), "no concepts found in concepts_*.txt")
    _check_types(source, semantic_types)
    _check_links(source, allow_dangling)
    _check_mentions(source)
    source.problems.sort()
    return source


def _lines(path: Path, source: Source) -> Iterator[tuple[Place, str]]:
    """Yield the lines of a file, stripped, without comments; empty lines are kept."""
    try:
        content = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        source.report(Place(path.name, 0), f"not UTF-8: {error}")
        return
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.startswith("#"):
            yield Place(path.name, number), line.strip()


def _read_concepts(path: Path, source: Source) -> None:
    concept: Concept | None = None
    for place, line in _lines(path, source):
        header = _HEADER.fullmatch(line)
        if not line:
            concept = None
        elif header:
            if concept is not None:
                source.report(place, "no empty line before this concept")
            concept = _start_concept(header, place, source)
        elif concept is None:
            source.report(place, f"unparsable first line of a concept: {line!r}")
            concept = Concept("", place)  # swallows the rest of the block
        else:
            _read_field(line, place, concept, source)


def _start_concept(header: re.Match[str], place: Place, source: Source) -> Concept:
    cui, types, preferred = header.groups()
    concept = Concept(cui, place, types=[tui for tui in types.split("+") if tui.strip()])
    concept.add_names(ENGLISH, _parse_names(preferred, place, source))
    if len(concept.names[ENGLISH]) > 1:
        source.report(place, "several preferred names")
    if cui in source.concepts:
        first = source.concepts[cui].place
        source.report(place, f"duplicate {cui}, first at {first.file}:{first.line}")
    else:
        source.concepts[cui] = concept
    return concept


def _read_field(line: str, place: Place, concept: Concept, source: Source) -> None:
    key, _, value = (part.strip() for part in line.partition(":"))
    if not value:
        source.report(place, f"unparsable line: {line!r}")
    elif key in concept.keys:
        source.report(place, f"`{key}` is given twice")
    elif key == "def":
        concept.definition = value
        if "|" in value:
            source.report(place, "'|' in a definition")
    elif key in LANGUAGES:
        concept.add_names(key, _parse_names(value, place, source))
    elif key in RELATIONS:
        concept.links += _parse_links(key, value, place, source)
    elif _LANGUAGE.fullmatch(key):
        source.report(place, f"unknown language `{key}`")
    else:
        source.report(place, f"unknown relation key `{key}`")
    concept.keys.add(key)


def _parse_names(value: str, place: Place, source: Source) -> list[Name]:
    names = []
    for part in value.split(";"):
        text = part.strip().removesuffix("*").strip()
        if not text:
            source.report(place, "empty name")
        elif "|" in text:
            source.report(place, f"'|' in a name: {text!r}")
        else:
            names.append(Name(text, part.rstrip().endswith("*")))
    return names


def _parse_links(key: str, value: str, place: Place, source: Source) -> list[Link]:
    links = []
    for target in (part.strip() for part in value.split(";")):
        if _CUI.fullmatch(target):
            links.append(Link(key, target, place))
        else:
            source.report(place, f"not a CUI: {target!r}")
    return links


def _read_sentences(path: Path, source: Source) -> None:
    for place, line in _lines(path, source):
        language, tab, marked = line.partition("\t")
        if not line:
            continue
        if not tab or not marked.strip():
            source.report(place, f"unparsable line, no LAT<TAB>sentence: {line!r}")
        elif language not in LANGUAGES:
            source.report(place, f"unknown language `{language}`")
        else:
            source.sentences.append(_parse_sentence(language, marked.strip(), place, source))


def _parse_sentence(language: str, marked: str, place: Place, source: Source) -> Sentence:
    text, position = "", 0
    mentions = []
    for mark in _MARK.finditer(marked):
        surface, concept_id = mark.groups()
        text += marked[position : mark.start()]
        mentions.append(Mention(len(text), len(text) + len(surface), surface, concept_id))
        text += surface
        position = mark.end()
        if surface != surface.strip():
            source.report(place, f"a mention with outer white space: {surface!r}")
    text += marked[position:]
    if any(character in text for character in "[]|"):
        source.report(place, f"unparsable mark: {text!r}")
    return Sentence(language, text, mentions, place)


def _check_types(source: Source, semantic_types: Collection[str]) -> None:
    for concept in source.concepts.values():
        if not concept.types:
            source.report(concept.place, f"missing semantic type of {concept.cui}")
        for tui in concept.types:
            if tui not in semantic_types:
                source.report(concept.place, f"unknown semantic type {tui!r}")


def _check_links(source: Source, allow_dangling: bool) -> None:
    for concept in source.concepts.values():
        known = [link for link in concept.links if link.target in source.concepts]
        if allow_dangling:
            source.dropped_links += len(concept.links) - len(known)
            concept.links = known
        for link in concept.links:
            if link.target not in source.concepts:
                source.report(link.place, f"dangling target {link.target} of `{link.key}`")
            elif link.target == concept.cui:
                source.report(link.place, f"`{link.key}` of {concept.cui} to itself")


def _check_mentions(source: Source) -> None:
    for sentence in source.sentences:
        for mention in sentence.mentions:
            if mention.concept_id != NIL and mention.concept_id not in source.concepts:
                source.report(sentence.place, f"unknown concept {mention.concept_id}")
