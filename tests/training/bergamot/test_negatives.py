from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from training.bergamot.negatives import Exclusions

# 0 is the parent of 1 and 2, 1 of 3, 3 of 4; 5 is related otherwise; 2 and 5 share a name.
PARENTS = {1: [0], 2: [0], 3: [1], 4: [3]}
LABELS = ["CHD", "PAR", "RO"]


def data() -> Any:
    edges = []
    for child, parents in PARENTS.items():
        for parent in parents:
            edges += [(child, parent, 0), (parent, child, 1)]
    edges = sorted([*edges, (0, 5, 2), (5, 0, 2)])
    targets, sources, relations = np.array(edges).T
    return SimpleNamespace(
        relation_labels=LABELS,
        graph_indptr=np.searchsorted(targets, np.arange(7)),
        graph_sources=sources,
        graph_relations=relations,
        homonyms_indptr=np.array([0, 0, 0, 1, 1, 1, 2]),
        homonyms=np.array([5, 2]),
    )


def excluded(concepts: list[int], **options: Any) -> set[tuple[int, int]]:
    settings = {"homonyms": False, "relatives": 0, **options}
    mask = Exclusions(cast(Any, data()), **settings)(np.array(concepts))
    return {(concepts[i], concepts[j]) for i, j in np.argwhere(mask)}


def both_ways(*pairs: tuple[int, int]) -> set[tuple[int, int]]:
    return {way for a, b in pairs for way in ((a, b), (b, a))}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (0, both_ways()),
        (1, both_ways((0, 1), (0, 2), (1, 3), (3, 4))),
        (2, both_ways((0, 1), (0, 2), (1, 3), (3, 4), (0, 3), (1, 4))),
        (3, both_ways((0, 1), (0, 2), (1, 3), (3, 4), (0, 3), (1, 4), (0, 4))),
    ],
)
def test_ancestors_and_descendants_up_to_so_many_steps(steps: int, expected: set):
    assert excluded([0, 1, 2, 3, 4, 5], relatives=steps) == expected


def test_an_ancestor_counts_where_those_between_are_not_in_the_batch():
    assert excluded([4, 1], relatives=2) == both_ways((1, 4))


def test_siblings_other_relations_and_the_concept_itself_are_negatives_or_positives():
    assert excluded([1, 2, 5, 1, 0, 0], relatives=1) == both_ways((0, 1), (0, 2))


def test_homonyms_beside_relatives():
    assert excluded([0, 2, 5], homonyms=True, relatives=1) == both_ways((2, 5), (0, 2))
