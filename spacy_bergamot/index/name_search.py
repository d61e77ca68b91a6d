"""Concepts by what somebody types: an id, a name, the beginning of one or one like it."""

from collections.abc import Callable
from typing import NamedTuple

from spacy_bergamot.index.completion import completions
from spacy_bergamot.index.names import Names
from spacy_bergamot.kb.concept_table import Concept
from spacy_bergamot.text import normalize

_CLOSE = 0.5
"""Cosine of 3-grams from which a name is shown to somebody who is typing."""


class Match(NamedTuple):
    """A concept that was searched for.

    concept_id (str): Its id.
    alias, language (str): The name that was found, as it is written; of no language where it was
        the id that was found.
    score (float): 1 for the id or the name itself, the cosine of 3-grams for a name that is
        similar, 0 for one that only begins so.
    """

    concept_id: str
    alias: str
    language: str
    score: float


class NameSearch:
    """A search in the names of an index and its changes.

    names (Names): The names.
    find (Callable[[str], Concept | None]): Returns a concept by its id.
    """

    def __init__(self, names: Names, find: Callable[[str], Concept | None]) -> None:
        self.names = names
        self.find = find

    def similar(self, text: str, *, limit: int = 10) -> list[Match]:
        """Return concepts by id or name, best first.

        The concept with that id comes first, then those with that name, then those with a name
        that shares 3-grams.

        text (str): Id or name, in any case.
        limit (int): The most that are returned.
        """
        name, hits = normalize(text), []
        best: dict[str, Match] = {}
        concept = self.find(text.strip()) or self.find(text.strip().upper())
        if concept is not None:
            found_id, name_of_it = concept.concept_id, concept.canonical_name
            best[found_id] = Match(found_id, name_of_it, "", 1.0)
        for number, index in enumerate(self.names.indexes):
            exact = int(index.lookup([name])[0])
            ((strings, scores),) = index.lexical.search([name], 8 * limit)
            found = [(exact, 1.0)] if exact >= 0 else []
            found += zip(strings.tolist(), scores.tolist(), strict=True)
            hits += [(score, number, string) for string, score in found]
        for score, number, string in sorted(hits, key=lambda hit: (-hit[0], hit[1])):
            for alias in self.names.indexes[number].alias_rows(string).tolist():
                if not self.names.is_removed(number, alias):
                    match = self._match(number, alias, score)
                    best.setdefault(match.concept_id, match)
        return list(best.values())[:limit]

    def complete(self, text: str, *, limit: int = 10) -> list[Match]:
        """Return concepts for somebody who is typing, best first.

        The concept with that id comes first, then those with that name, then those with a name
        that begins so, then those with one that is written nearly so.

        text (str): What was typed so far.
        limit (int): The most that are returned.
        """
        similar = self.similar(text, limit=limit)
        begin = []
        for number, index in enumerate(self.names.indexes):
            removed = self.names.removed(number)
            found = completions(index, normalize(text), limit=limit, removed=removed)
            begin += [(one.place, number, one.alias) for one in found]
        completed = [self._match(number, alias, 0.0) for _, number, alias in sorted(begin)]
        same = [match for match in similar if match.score >= 1]
        best: dict[str, Match] = {}
        close = [match for match in similar if match.score >= _CLOSE]
        for match in [*same, *completed, *close]:
            best.setdefault(match.concept_id, match)
        return list(best.values())[:limit]

    def _match(self, number: int, alias: int, score: float) -> Match:
        table = self.names.indexes[number].table
        concept_id = table.concept_id(int(table.keys("aliases")[alias]))
        written = [table.column("aliases", name)[alias].as_py() for name in ("alias", "language")]
        return Match(concept_id, written[0], written[1], score)
