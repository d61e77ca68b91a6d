"""Pairs of concepts that may be the same, and what speaks for each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.candidates import Candidate, CandidateGenerator
from spacy_bergamot.mentions.folded import folded_key, folded_name
from spacy_bergamot.text import has_letters, normalize
from training.align.sides import Side, groups_of

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
    features (float64 (n, len(FEATURES))): See `FEATURES`.
    conflicting (int): Pairs that were dropped because their semantic groups differ.
    """

    left: np.ndarray
    right: np.ndarray
    features: np.ndarray
    conflicting: int = 0

    def feature(self, name: str) -> np.ndarray:
        """Return one feature, float64 (n,)."""
        return self.features[:, _AT[name]]


class Names(NamedTuple):
    """The names of a table's concepts.

    normal (list[list[str]]): Distinct normal forms of every concept, the preferred name's first.
    folded (list[set[int]]): Keys of their folded forms.
    preferred (list[int]): That of the preferred name, 0 without one.
    """

    normal: list[list[str]]
    folded: list[set[int]]
    preferred: list[int]

    @classmethod
    def of(cls, table: ConceptTable) -> "Names":
        """Read the names of a table."""
        normal: list[dict[str, None]] = [{} for _ in range(len(table))]
        folded: list[set[int]] = [set() for _ in range(len(table))]
        preferred = []
        for row, name in enumerate(table.column("concepts", "name").to_pylist()):
            normal[row][normalize(name)] = None
            preferred.append(folded_key(folded_name(name, "ENG")))
        aliases = (table.column("aliases", name).to_pylist() for name in ("alias", "language"))
        for row, alias, language in zip(table.keys("aliases").tolist(), *aliases, strict=True):
            normal[row][normalize(alias)] = None
            if key := folded_key(folded_name(alias, language)):
                folded[row].add(key)
        named = [[name for name in names if has_letters(name)] for names in normal]
        return cls(named, folded, preferred)


def find_pairs(left: ConceptTable, right: Side, *, k: int, progress: bool = False) -> Pairs:
    """Return the pairs of every left concept with right ones whose names are near.

    Pairs whose semantic groups are known and have none in common are dropped.

    right (Side): With its generator. k (int): Concepts that each generator finds for a name.
    """
    mine, theirs = Names.of(left), Names.of(right.table)
    groups, others = groups_of(left), groups_of(right.table)
    lefts: list[int] = []
    rights: list[int] = []
    rows: list[np.ndarray] = []
    conflicting = 0
    for row, found in _found(mine, theirs, right, k=k, progress=progress):
        for other, features in sorted(found.items()):
            if groups[row] and others[other] and not groups[row] & others[other]:
                conflicting += 1
                continue
            lefts.append(row)
            rights.append(other)
            rows.append(features)
    features = np.array(rows).reshape(-1, len(FEATURES))
    ones, others_of = (np.array(of, dtype=np.int64) for of in (lefts, rights))
    for name, owner in (("margin", ones), ("back", others_of)):
        features[:, _AT[name]] = _margins(features[:, _AT["score"]], owner)
    return Pairs(ones, others_of, features, conflicting)


def _found(
    mine: Names, theirs: Names, right: Side, *, k: int, progress: bool
) -> Iterator[tuple[int, dict[int, np.ndarray]]]:
    """Yield every left row and what speaks for its pairs, by right row."""
    from tqdm import tqdm

    assert right.generator is not None
    uses = Counter(name for names in mine.normal for name in names)
    folded_uses = Counter(key for keys in mine.folded for key in keys)
    by_key: dict[int, list[int]] = {}
    for row, keys in enumerate(theirs.folded):
        for key in keys:
            by_key.setdefault(key, []).append(row)
    rows_of_ids: dict[str, int] = {}
    count = len(mine.normal)
    with tqdm(total=count, unit=" concepts", desc="Matching", disable=not progress) as bar:
        for start in range(0, count, _CHUNK):
            chunk = range(start, min(start + _CHUNK, count))
            names = list(dict.fromkeys(name for row in chunk for name in mine.normal[row]))
            by_name = dict(zip(names, _candidates(right.generator, names, k), strict=True))
            for row in chunk:
                found: dict[int, np.ndarray] = {}
                for name in mine.normal[row]:
                    same = sum("exact" in one.scores for one in by_name[name])
                    alone = same == 1 and uses[name] == 1
                    for one in by_name[name]:
                        other = rows_of_ids.get(one.concept_id)
                        if other is None:
                            other = rows_of_ids[one.concept_id] = right.table.row(one.concept_id)
                        _better(found, other, _of_candidate(one, alone=alone))
                for key in mine.folded[row]:
                    same_key = by_key.get(key, ())
                    if len(same_key) <= _HOMONYMS:
                        alone = len(same_key) == 1 and folded_uses[key] == 1
                        for other in same_key:
                            _better(found, other, _vector(folded=1, unique=alone))
                for other, features in found.items():
                    equal = mine.normal[row][:1] == theirs.normal[other][:1]
                    key = mine.preferred[row]
                    equal |= key != 0 and key == theirs.preferred[other]
                    features[_AT["preferred"]] = equal
                yield row, found
            bar.update(len(chunk))


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


def _margins(scores: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Return every score less the best other score of the same owner, or less 0 without one."""
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
