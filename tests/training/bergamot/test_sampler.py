from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from training.bergamot.sampler import NeighbourSampler, draw_without_replacement


@pytest.mark.parametrize("size", [4, 5, 9])
def test_every_subset_is_equally_likely(size: int):
    rng = np.random.default_rng(0)
    drawn = np.sort(draw_without_replacement(np.full(60_000, size), 3, rng), axis=1)
    subsets, counts = np.unique(drawn, axis=0, return_counts=True)
    assert [tuple(row) for row in subsets] == list(combinations(range(size), 3))
    assert chisquare(counts).pvalue > 1e-4


@given(st.lists(st.integers(0, 12), min_size=1, max_size=20), st.integers(1, 5))
def test_draws_are_distinct_and_in_range(sizes: list[int], count: int):
    drawn = draw_without_replacement(np.array(sizes), count, np.random.default_rng(1))
    for size, row in zip(sizes, drawn, strict=True):
        values = [value for value in row if value >= 0]
        assert len(values) == len(set(values)) == min(size, count)
        assert all(value < size for value in values)


def csr(edges: list[tuple[int, int, int]], nodes: int) -> tuple[np.ndarray, ...]:
    edges = sorted(edges)
    indptr = np.searchsorted([edge[0] for edge in edges], np.arange(nodes + 1))
    columns = np.array(edges).T
    return indptr.astype(np.int64), columns[1].astype(np.int32), columns[2].astype(np.int32)


EDGES = [(0, 1, 5), (0, 2, 6), (0, 2, 7), (1, 3, 5), (2, 4, 8), (3, 0, 9)]


def test_edges_are_the_graphs_and_point_at_the_centres():
    sampler = NeighbourSampler(*csr(EDGES, 5), neighbours=3)
    graph = sampler.sample(np.array([0, 3, 0, 4]), np.random.default_rng(0))
    assert list(graph.concepts[:4]) == [0, 3, 0, 4]
    named = {
        (int(target), int(graph.concepts[source]), int(relation))
        for source, target, relation in zip(
            graph.sources, graph.targets, graph.relations, strict=True
        )
    }
    assert named == {
        (0, 1, 5), (0, 2, 6), (0, 2, 7), (1, 0, 9), (2, 1, 5), (2, 2, 6), (2, 2, 7),
    }  # fmt: skip
    assert graph.sources.min() >= 4  # a neighbour is never one of the centres' nodes


def test_two_hops_reach_the_neighbours_of_the_neighbours():
    sampler = NeighbourSampler(*csr(EDGES, 5), neighbours=3, hops=2)
    graph = sampler.sample(np.array([0]), np.random.default_rng(0))
    assert set(graph.concepts) == {0, 1, 2, 3, 4}
    edges = {
        (int(graph.concepts[s]), int(graph.concepts[t]))
        for s, t in zip(graph.sources, graph.targets, strict=True)
    }
    assert edges == {(1, 0), (2, 0), (3, 1), (4, 2)}


def test_the_same_seed_gives_the_same_sample():
    sampler = NeighbourSampler(*csr([(0, n, 0) for n in range(1, 50)], 50), neighbours=3)
    first, second = (sampler.sample(np.array([0, 0]), np.random.default_rng(7)) for _ in range(2))
    assert first.concepts.tolist() == second.concepts.tolist()
    other = sampler.sample(np.array([0, 0]), np.random.default_rng(8))
    assert first.concepts.tolist() != other.concepts.tolist()


def test_centres_without_neighbours_stand_alone():
    sampler = NeighbourSampler(*csr(EDGES, 5), neighbours=3)
    graph = sampler.sample(np.array([4]), np.random.default_rng(0))
    assert graph.concepts.tolist() == [4]
    assert graph.sources.size == 0
