"""Rescoring: every alias that any generator found is scored by 3-grams and language model, exactly.

Names of one language resemble each other whatever they mean, so a name is compared with the names
of its own language. With the mention's vector q, the vector a of an alias of language L, the mean m
of all vectors and m_L of that language's:

- dense    (a · q - (m_L - m) · q - c) / (1 - c) with the cosine c of two names by chance
           (`spacy_bergamot.index.language_bias`): 0 is what chance gives, 1 the same name.
- lexical  the cosine of 3-grams, less its mean over the aliases of the same language that the
           language model found.

Both are added by weight. An alias is at the distance d = 1 - score, a concept at (Σ d^-p)^(-1/p)
over its aliases with p = 1 / agreement: several near names bring it nearer than the nearest alone.
An alias of the mention's folded form has a quarter of its distance left: whatever the language
model makes of an ending, it is the same word. An alias that is the mention itself has score 1 and
comes before all others.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.generators import (
    DenseGenerator,
    EnsembleGenerator,
    FoldedGenerator,
    LexicalGenerator,
)
from spacy_bergamot.linking.selection import Allowed

_LEAST = 1e-6
_FOLDED = 0.25  # of the distance of an alias that has the mention's folded form


class Pool(NamedTuple):
    """The aliases that were found for a mention and that the filters allow, each once.

    strings, aliases, concepts (int64 (n,)): Rows in the index and in its table.
    found (dict[str, bool (n,)]): Which of them each generator found.
    """

    strings: np.ndarray
    aliases: np.ndarray
    concepts: np.ndarray
    found: dict[str, np.ndarray]

    @classmethod
    def of(cls, parts: Mapping[str, Allowed]) -> "Pool":
        """Unite what the generators found.

        parts (Mapping[str, Allowed]): By the names of the generators.
        """
        aliases, first = np.unique(
            np.concatenate([part.aliases for part in parts.values()]), return_index=True
        )
        strings, concepts = (
            np.concatenate([getattr(part, name) for part in parts.values()])[first]
            for name in ("strings", "concepts")
        )
        found = {key: np.isin(aliases, part.aliases) for key, part in parts.items()}
        return cls(strings, aliases, concepts, found)


class Scored(NamedTuple):
    """Scores of a pool's aliases.

    scores (float64 (n,)): What they are ranked by; 1 for the mention itself, else below 1.
    parts (dict[str, float32 (n,)]): The cosines by generator.
    usual (float32 (languages + 1,)): Mean lexical score of every language's aliases.
    """

    scores: np.ndarray
    parts: dict[str, np.ndarray]
    usual: np.ndarray


class Rescorer:
    """Scores the aliases of one index by the lexical and the dense generator of an ensemble."""

    def __init__(self, index: AliasIndex, ensemble: EnsembleGenerator) -> None:
        self.index = index
        self.lexical = ensemble.key_of(LexicalGenerator)
        self.dense = ensemble.key_of(DenseGenerator)
        self.folded = ensemble.key_of(FoldedGenerator)
        self.agreement = ensemble.agreement
        keys = [key for key in (self.lexical, self.dense) if key is not None]
        given = {key: ensemble.weight(key) for key in keys}
        self.weights = {key: weight / sum(given.values()) for key, weight in given.items()}

    def __call__(
        self, name: str, vector: np.ndarray | None, pool: Pool, usual: np.ndarray | None = None
    ) -> Scored:
        """Score the aliases of a mention.

        name (str): In normal form. vector (float32 (d,) | None): From `AliasIndex.embed`; needed
            where the ensemble has a dense generator.
        usual (float32 (languages + 1,) | None): Of another index's pool, whose aliases these are
            compared with.
        """
        strings, place = np.unique(pool.strings, return_inverse=True)
        shares = self.index.languages_of(strings)
        parts, scores = {}, np.zeros(len(strings))
        if self.dense is not None and vector is not None:
            cosines = parts[self.dense] = self.index.cosines(vector, strings)
            bias = self.index.bias
            above = cosines - shares @ (bias.offsets @ vector) - bias.chance
            scores += self.weights[self.dense] * above / (1 - bias.chance)
        if self.lexical is not None:
            cosines = parts[self.lexical] = self.index.lexical.cosines(name, strings)
            if usual is None:
                near = _found_by(self.dense, pool, place)
                usual = _by_language(cosines, shares, near)
            scores += self.weights[self.lexical] * (cosines - shares @ usual)
        folded = _found_by(self.folded, pool, place)
        scores[folded] = 1 - _FOLDED * (1 - scores[folded])
        scores = np.minimum(scores, 1 - _LEAST)
        scores[strings == self.index.lookup([name])[0]] = 1
        of_aliases = {key: values[place] for key, values in parts.items()}
        none = np.zeros(shares.shape[1], dtype=np.float32)
        return Scored(scores[place], of_aliases, none if usual is None else usual)

    def concepts(self, pool: Pool, scored: Scored) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return concepts (int64 (c,)), their scores and the places of their best aliases.

        pool (Pool): The aliases of a mention.
        scored (Scored): Their scores.
        """
        order = np.lexsort((pool.aliases, -scored.scores, pool.concepts))
        concepts, first = np.unique(pool.concepts[order], return_index=True)
        best = order[first]
        scores = scored.scores[best]
        if self.agreement:
            nearest = np.maximum(1 - scores, _LEAST)
            owner = np.searchsorted(concepts, pool.concepts)
            relative = np.maximum(1 - scored.scores, _LEAST) / nearest[owner]
            votes = np.bincount(owner, relative ** (-1 / self.agreement))
            together = np.minimum(1 - nearest * votes**-self.agreement, 1 - _LEAST)
            scores = np.where(scores < 1, together, scores)
        return concepts, scores, best


def _found_by(key: str | None, pool: Pool, place: np.ndarray) -> np.ndarray:
    """Say which strings a generator found, bool; place has the string of every alias."""
    found = np.zeros(place.max() + 1, dtype=bool)
    if key in pool.found:
        found[place[pool.found[key]]] = True
    return found


def _by_language(values: np.ndarray, shares: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the mean of the chosen values (n,) by language, float32; 0 where there is none."""
    sums, counts = shares[chosen].T @ values[chosen], shares[chosen].sum(0)
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
