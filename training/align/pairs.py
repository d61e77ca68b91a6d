"""Pairs of concepts that may be the same, and what speaks for each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.candidates import Candidate, CandidateGenerator
from training.align.names import Folded, Names
from training.align.sides import Side, conflict, groups_of

FEATURES = (
    "exact", "folded", "preferred", "unique", "lexical", "dense", "score", "margin", "back",
)  # fmt: skip
"""exact: a name is the same in normal form. folded: one is the same in folded form. preferred: both
preferred names are. unique: such a name means one concept on either side. lexical, dense, score:
the best of two names, by 3-grams, by language model, and by both as linking weighs them. margin:
score less that of the best other right concept; back: less that of the best other left one."""

_AT = {name: place for place, name in enumerate(FEATURES)}
_CHUNK = 256
_HOMONYMS = 20  # concepts of one folded form above which it says nothing


@dataclass(frozen=True)
class Pairs:
    """Pairs in the order of left rows.

    left, right (int64 (n,)): Rows of concepts.
    features (float64 (n, len(names))): See `FEATURES`.
    conflicting (int): Pairs that were dropped because their semantic groups differ.
    names (tuple[str, ...]): Of the features.
    """

    left: np.ndarray
    right: np.ndarray
    features: np.ndarray
    conflicting: int = 0
    names: tuple[str, ...] = FEATURES

    def feature(self, name: str) -> np.ndarray:
        """Return one feature, float64 (n,)."""
        return self.features[:, self.names.index(name)]

    def with_feature(self, name: str, values: np.ndarray) -> "Pairs":
        """Return the pairs with one more feature, float64 (n,)."""
        features = np.column_stack([self.features, values])
        return replace(self, features=features, names=(*self.names, name))

    @property
    def same_name(self) -> np.ndarray:
        """Whether a name is the same in normal or folded form, bool (n,)."""
        known = [self.feature(name) > 0 for name in ("exact", "folded") if name in self.names]
        return np.logical_or.reduce(known) if known else np.zeros(len(self.left), dtype=bool)


def find_pairs(left: ConceptTable, right: Side, *, k: int, progress: bool = False) -> Pairs:
    """Return the pairs of every left concept with right ones whose names are near.

    Pairs whose semantic groups are known and have none in common are dropped.

    right (Side): With its generator. k (int): Concepts that each generator finds for a name.
    """
    mine, theirs = Names.of(left), Folded(right.table)
    groups, others = groups_of(left), groups_of(right.table)
    lefts: list[int] = []
    rights: list[int] = []
    rows: list[np.ndarray] = []
    conflicting = 0
    for row, found in _found(mine, theirs, right, k=k, progress=progress):
        for other, features in sorted(found.items()):
            if conflict(groups[row], others[other]):
                conflicting += 1
                continue
            lefts.append(row)
            rights.append(other)
            rows.append(features)
    features = np.array(rows).reshape(-1, len(FEATURES))
    ones, others_of = (np.array(of, dtype=np.int64) for of in (lefts, rights))
    for name, owner in (("margin", ones), ("back", others_of)):
        features[:, _AT[name]] = margins(features[:, _AT["score"]], owner)
    return Pairs(ones, others_of, features, conflicting)


def _found(
    mine: Names, theirs: Folded, right: Side, *, k: int, progress: bool
) -> Iterator[tuple[int, dict[int, np.ndarray]]]:
    """Yield every left row and what speaks for its pairs, by right row."""
    from tqdm import tqdm

    assert right.generator is not None
    weigh = _Evidence(mine, theirs, right.table)
    count = len(mine.normal)
    with tqdm(total=count, unit=" concepts", desc="Matching", disable=not progress) as bar:
        for start in range(0, count, _CHUNK):
            chunk = range(start, min(start + _CHUNK, count))
            names = list(dict.fromkeys(name for row in chunk for name in mine.normal[row]))
            by_name = dict(zip(names, _candidates(right.generator, names, k), strict=True))
            for row in chunk:
                yield row, weigh(row, by_name)
            bar.update(len(chunk))


class _Evidence:
    """What speaks for the pairs of a left concept.

    mine (Names), theirs (Folded): Of the sides. table (ConceptTable): The right one.
    """

    def __init__(self, mine: Names, theirs: Folded, table: ConceptTable) -> None:
        self.mine, self.theirs = mine, theirs
        self._uses = Counter(name for names in mine.normal for name in names)
        self._folded_uses = Counter(key for keys in mine.folded for key in keys)
        self._row_of = cache(table.row)

    def __call__(self, row: int, by_name: Mapping[str, list[Candidate]]) -> dict[int, np.ndarray]:
        """Return the features of the pairs of a left row, by right row."""
        found: dict[int, np.ndarray] = {}
        for name in self.mine.normal[row]:
            same = sum("exact" in one.scores for one in by_name[name])
            alone = same == 1 and self._uses[name] == 1
            for one in by_name[name]:
                _better(found, self._row_of(one.concept_id), _of_candidate(one, alone=alone))
        for key in self.mine.folded[row]:
            rows = self.theirs.rows(key)
            alone = len(rows) == 1 and self._folded_uses[key] == 1
            for other in rows if len(rows) <= _HOMONYMS else ():
                _better(found, other, _vector(folded=1, unique=alone))
        for other, features in found.items():
            features[_AT["preferred"]] = self._same_preferred(row, other)
        return found

    def _same_preferred(self, row: int, other: int) -> bool:
        name, key = self.theirs.preferred(other)
        same_folded = key != 0 and key == self.mine.preferred[row]
        return same_folded or [name] == self.mine.normal[row][:1]


def _candidates(generator: CandidateGenerator, names: list[str], k: int) -> list[list[Candidate]]:
    return generator.generate([(name, "") for name in names], k=k) if names else []


def _of_candidate(one: Candidate, *, alone: bool) -> np.ndarray:
    exact = "exact" in one.scores
    return _vector(
        exact=exact,
        unique=exact and alone,
        lexical=1.0 if exact else one.scores.get("lexical", 0.0),
        dense=1.0 if exact else one.scores.get("dense", 0.0),
        score=one.score,
    )


def _vector(**values: float) -> np.ndarray:
    vector = np.zeros(len(FEATURES))
    for name, value in values.items():
        vector[_AT[name]] = value
    return vector


def _better(found: dict[int, np.ndarray], row: int, features: np.ndarray) -> None:
    """Keep the larger of each feature: another name of the concept may be nearer."""
    known = found.get(row)
    found[row] = features if known is None else np.maximum(known, features)


def margins(scores: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Return every score less the best other score of the same owner, or less 0 without one.

    scores (float64 (n,)), owners (int64 (n,)): Of pairs, and a concept of each.
    """
    if not len(scores):
        return scores
    order = np.lexsort((-scores, owners))
    margins = np.empty(len(scores))
    starts = np.flatnonzero(np.append(True, owners[order][1:] != owners[order][:-1]))
    for members in np.split(order, starts[1:]):
        best = scores[members]
        second = best[1] if len(best) > 1 else 0.0
        margins[members] = best - best[0]
        margins[members[:1]] = best[0] - second
    return margins
