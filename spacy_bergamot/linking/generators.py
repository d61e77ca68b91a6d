"""Candidate generators: from names to strings of the alias index, best first.

A generator is configured by a registered function. What it finds are strings; concepts are chosen
from them, filters included, in the same way for every generator
(`spacy_bergamot.linking.candidates`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from spacy_bergamot.encoder.text_encoder import Encodes
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.mention import Query
from spacy_bergamot.ragged import expand


class Hits(NamedTuple):
    """Strings of the index for one name, best first.

    strings (int64 (n,)), scores (float32 (n,)). exhausted (bool): There are no more.
    """

    strings: np.ndarray
    scores: np.ndarray
    exhausted: bool


Search = Callable[[Sequence[int], int], list[Hits]]
"""Positions of names and a number of hits in, their hits out."""

FOLDED = 0.99
"""Score of an alias that is the name but for what folding leaves out: below the name itself."""

NOTHING = Hits(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32), True)


@runtime_checkable
class Generator(Protocol):
    """What proposes strings."""

    @property
    def name(self) -> str:
        """What stands in candidates as their generator."""
        ...

    def search(self, queries: Sequence[Query], index: AliasIndex, encoder: Encodes) -> Search:
        """Return the search for some names.

        queries (Sequence[Query]): The names.
        index (AliasIndex): Searched.
        encoder (Encodes): Gives vectors of names, where a generator needs them.
        """
        ...


@dataclass(frozen=True)
class ExactGenerator:
    """A name's own normal form, with score 1."""

    name: str = "exact"

    def search(self, queries: Sequence[Query], index: AliasIndex, encoder: Encodes) -> Search:
        """Return the search for some names; see `Generator.search`."""
        found = index.lookup([one.name for one in queries])
        one = np.ones(1, dtype=np.float32)

        def search(rows: Sequence[int], fetch: int) -> list[Hits]:
            return [
                Hits(found[row : row + 1], one, True) if found[row] >= 0 else NOTHING
                for row in rows
            ]

        return search


@dataclass(frozen=True)
class FoldedGenerator:
    """Other aliases in the text's language with the name's folded form, with score `FOLDED`.

    They differ from it in inflection, order, hyphens or spelling alone (`spacy_bergamot.folding`).
    Of a text whose language nobody knows, and of an index that was made before it had folded
    forms, it finds none.
    """

    name: str = "folded"

    def search(self, queries: Sequence[Query], index: AliasIndex, encoder: Encodes) -> Search:
        """Return the search for some names; see `Generator.search`."""
        found = [index.folded.find(one.name, one.languages) for one in queries]
        itself = index.lookup([one.name for one in queries])
        found = [each[each != same] for each, same in zip(found, itself, strict=True)]

        def search(rows: Sequence[int], fetch: int) -> list[Hits]:
            each = [found[row] for row in rows]
            return [Hits(one, np.full(len(one), FOLDED, np.float32), True) for one in each]

        return search


@dataclass(frozen=True)
class LexicalGenerator:
    """Names that share character 3-grams, by the cosine of TF-IDF vectors.

    smallest (float): Score below which hits are left out.
    """

    smallest: float = 0.2
    name: str = "lexical"

    def search(self, queries: Sequence[Query], index: AliasIndex, encoder: Encodes) -> Search:
        """Return the search for some names; see `Generator.search`."""

        def search(rows: Sequence[int], fetch: int) -> list[Hits]:
            wanted = [queries[row].name for row in rows]
            found = index.lexical.search(wanted, fetch, smallest=self.smallest)
            return [Hits(strings, scores, len(strings) < fetch) for strings, scores in found]

        return search


@dataclass(frozen=True)
class DenseGenerator:
    """The language model's nearest aliases, by cosine."""

    name: str = "dense"

    def search(self, queries: Sequence[Query], index: AliasIndex, encoder: Encodes) -> Search:
        """Return the search for some names; see `Generator.search`."""
        vectors = index.embed([one.name for one in queries], encoder)

        def search(rows: Sequence[int], fetch: int) -> list[Hits]:
            found = index.engine.search(vectors[list(rows)], min(fetch, index.vectors))
            return [
                _strings_of(ids, scores, fetch, index) for ids, scores in zip(*found, strict=True)
            ]

        return search


def _strings_of(vectors: np.ndarray, scores: np.ndarray, fetch: int, index: AliasIndex) -> Hits:
    present = vectors >= 0
    vectors, scores = vectors[present], scores[present]
    strings, row = expand(index.vector_indptr, index.vector_strings, vectors)
    return Hits(strings.astype(np.int64), scores[row], len(vectors) < fetch)


@dataclass(frozen=True)
class EnsembleGenerator:
    """Several generators, whose concepts are united.

    generators (dict[str, Generator]), weights (dict[str, float]): By any name; a weight
        multiplies the generator's scores, 1 where it is not given.
    combine (str): "max", the best weighted score (xMEN); "mean", the weighted mean over the
        generators that found anything, where a concept that one of them did not return counts as
        the last that it did return, which is the most that it can have; or "rescored": every alias
        that any of them found is scored by all (`spacy_bergamot.linking.rescoring`).
    agreement (float): Of "rescored": how much several near names of a concept count together, from
        0 (the nearest alone counts) to 1.
    stop_at_exact (bool): Where an `ExactGenerator` finds one allowed concept, ask none of the
        others. If it finds several, the others are asked as well.

    Exact generators are asked first, the others in the order of their names: a config does not keep
    the order that it was written in with every version of spaCy.
    """

    generators: Mapping[str, Generator]
    weights: Mapping[str, float] = field(default_factory=dict)
    combine: Literal["max", "mean", "rescored"] = "max"
    stop_at_exact: bool = True
    agreement: float = 0.0

    def __post_init__(self) -> None:
        unknown = ", ".join(sorted(self.weights.keys() - self.generators.keys()))
        if unknown or not self.generators or min(self.weights.values(), default=1) <= 0:
            known = ", ".join(self.generators)
            raise BergamotError(Errors.B045, weights=dict(self.weights), known=known)
        if not 0 <= self.agreement <= 1:
            rule = "between 0 (the nearest name alone counts) and 1"
            raise BergamotError(Errors.B037, setting="agreement", value=self.agreement, rule=rule)
        in_order = sorted(
            self.generators.items(),
            key=lambda one: (not isinstance(one[1], ExactGenerator), one[0]),
        )
        object.__setattr__(self, "generators", dict(in_order))
        object.__setattr__(self, "weights", dict(sorted(self.weights.items())))

    def is_exact(self, key: str) -> bool:
        """Return whether a generator finds names as they stand.

        key (str): Its name.
        """
        return isinstance(self.generators[key], ExactGenerator)

    def weight(self, key: str) -> float:
        """Return the weight of a generator, 1 where none is given.

        key (str): Its name.
        """
        return self.weights.get(key, 1.0)

    def key_of(self, kind: type) -> str | None:
        """Return the name of the first generator of a kind, or None."""
        found = (key for key, one in self.generators.items() if isinstance(one, kind))
        return next(found, None)


def make_exact() -> ExactGenerator:
    """Configure `ExactGenerator`."""
    return ExactGenerator()


def make_folded() -> FoldedGenerator:
    """Configure `FoldedGenerator`."""
    return FoldedGenerator()


def make_lexical(smallest: float = 0.2) -> LexicalGenerator:
    """Configure `LexicalGenerator`.

    smallest (float): As of the class.
    """
    return LexicalGenerator(smallest)


def make_dense() -> DenseGenerator:
    """Configure `DenseGenerator`."""
    return DenseGenerator()


def make_ensemble(
    generators: dict[str, Any],
    weights: dict[str, float] | None = None,
    combine: Literal["max", "mean", "rescored"] = "max",
    stop_at_exact: bool = True,
    agreement: float = 0.0,
) -> EnsembleGenerator:
    """Configure `EnsembleGenerator`.

    generators, weights, combine, stop_at_exact, agreement: As of the class.
    """
    return EnsembleGenerator(
        dict(generators),
        dict(weights or {}),
        combine=combine,
        stop_at_exact=stop_at_exact,
        agreement=agreement,
    )
