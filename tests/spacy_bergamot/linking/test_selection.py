"""The best allowed concepts of a generator's hits, as a plain loop over all aliases finds them."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.filters import CandidateFilter, Masks
from spacy_bergamot.linking.generators import Hits
from spacy_bergamot.linking.mention import Query
from spacy_bergamot.linking.selection import Chosen, Selection, same_names


@dataclass
class Drawn:
    """Proposes all strings of an index in a drawn order, with scores in eighths."""

    seed: int
    name: str = "drawn"

    def search(self, queries, index: AliasIndex, encoder):
        self.fetched: list[int] = []
        strings, scores = self.ranking(index)

        def search(rows, fetch: int) -> list[Hits]:
            self.fetched.append(fetch)
            return [Hits(strings[:fetch], scores[:fetch], fetch >= len(strings)) for _ in rows]

        return search

    def ranking(self, index: AliasIndex) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        scores = -np.sort(-rng.integers(1, 9, len(index)) / 8).astype(np.float32)
        return rng.permutation(len(index)).astype(np.int64), scores


def allowed_by_a_loop(drawn: Drawn, index: AliasIndex, masks: Masks) -> list[tuple[int, float]]:
    """Return every allowed concept once, with its best score, best first."""
    best: dict[int, float] = {}
    concepts = index.table.keys("aliases")
    for string, score in zip(*drawn.ranking(index), strict=True):
        for alias in index.alias_rows(string):
            if masks.reason(int(alias), int(concepts[alias]), "X") is None:
                best.setdefault(int(concepts[alias]), float(score))
    return list(best.items())


FILTERS = [
    CandidateFilter(),
    CandidateFilter(languages=("ENG",)),
    CandidateFilter(semantic_groups=("DISO",)),
    CandidateFilter(types_by_label={"X": ["CHEM"]}),
    CandidateFilter(concepts=("C01",)),
]


@settings(max_examples=40)
@given(st.integers(0, 1000), st.sampled_from(FILTERS), st.integers(1, 12))
def test_the_best_allowed_concepts_are_chosen(index: AliasIndex, seed: int, allowed, k: int):
    masks, drawn = Masks(index.table, allowed), Drawn(seed)
    expected = allowed_by_a_loop(drawn, index, masks)
    (chosen,) = Selection(index, masks)(drawn, [Query("x", "X")], None, k)
    found = list(zip(chosen.concepts.tolist(), chosen.scores.tolist(), strict=True))
    assert found == expected[: len(found)]
    assert len(found) >= min(k, len(expected))
    if len(found) > k:  # those with the score of the last, as far as they were fetched
        assert {score for _, score in found[k - 1 :]} == {found[k - 1][1]}
    complete = len(found) == len(expected) < k
    assert chosen.floor == (0 if complete else found[-1][1] if found else 0)
    strings = {int(row): string for string in range(len(index)) for row in index.alias_rows(string)}
    scores = dict(zip(*map(np.ndarray.tolist, drawn.ranking(index)), strict=True))
    for alias, (concept, score) in zip(chosen.aliases.tolist(), found, strict=True):
        assert index.table.keys("aliases")[alias] == concept
        assert scores[strings[alias]] == score


@pytest.mark.parametrize("seed", range(6))
def test_four_times_as_much_is_fetched_until_there_is_enough(index: AliasIndex, seed: int):
    masks, drawn = Masks(index.table, CandidateFilter(concepts=("C04",))), Drawn(seed)
    (chosen,) = Selection(index, masks)(drawn, [Query("x")], None, 1)
    assert chosen.concepts.tolist() == [3]
    order = drawn.ranking(index)[0].tolist()
    before = min(order.index(index.lookup([name])[0]) for name in ("cold", "common cold"))
    assert drawn.fetched == [4, *(fetch for fetch in (16, 64) if fetch <= 4 * before)]
    assert Selection(index, masks)(drawn, [], None, 1) == []


@pytest.mark.parametrize(
    ("scores", "expected"), [([1, 0.5], True), ([1, 1], False), ([0.9], False)]
)
def test_one_concept_with_score_1_decides(scores: list[float], expected: bool):
    rows = np.arange(len(scores))
    assert Chosen(rows, np.array(scores), rows, 0.0, None).decides is expected


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_equal_names_of_a_concept_are_counted(pairs: list[tuple[int, int]]):
    strings, concepts = np.array(pairs).T
    counts = [same_names(strings, concepts, place) for place in range(len(pairs))]
    assert counts == [pairs.count(pair) for pair in pairs]
