import tracemalloc
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from spacy_bergamot.hashing import string_keys
from tests.training.preprocess.conftest import CAPS, build, name, relation
from training.errors import BergamotError
from training.preprocess.pairs import CROSS, ENGLISH, Caps, positive_pairs

Unit = tuple[int, str, int]
EVERYTHING = Caps(10**6, 10**6, 10**6)


def draw(
    units: list[Unit], caps: Caps, *, english_only: bool = True, seed: int = 0
) -> tuple[np.ndarray, dict[str, int]]:
    """Draw pairs; a concept's id is its number in words."""
    schema = {"concept": pl.Int32, "language": pl.String, "name": pl.Int32}
    frame = pl.DataFrame(units, schema=schema, orient="row")
    count = max((unit[0] for unit in units), default=-1) + 1
    hashes = string_keys(f"C{i}" for i in range(count))
    parts = positive_pairs(
        frame, hashes, caps=caps, english_crosslingual_only=english_only, seed=seed
    )
    pairs, counts = [np.empty((0, 3), dtype=np.int32)], Counter[str]()
    for part, found in parts:
        pairs.append(part)
        counts.update(found)
    return np.concatenate(pairs), dict(+counts)


def bucket_of(first: set[str], second: set[str], *, english_only: bool) -> str | None:
    """Return the first bucket that admits a pair of strings with these languages."""
    if common := first & second:
        return ENGLISH if ENGLISH in common else min(common)
    if not english_only:
        return CROSS
    if ENGLISH in first | second:
        return f"{ENGLISH}|{min(second if ENGLISH in first else first)}"
    return None


def is_crosslingual(bucket: str) -> bool:
    return bucket == CROSS or "|" in bucket


def plain_loops(units: list[Unit], *, english_only: bool) -> dict[tuple[int, str], set[frozenset]]:
    """Return all pairs of every (concept, bucket)."""
    languages: dict[tuple[int, int], set[str]] = {}
    for concept, language, text in units:
        languages.setdefault((concept, text), set()).add(language)
    found: dict[tuple[int, str], set[frozenset]] = {}
    for (c, a), (d, b) in combinations(languages, 2):
        bucket = bucket_of(languages[c, a], languages[d, b], english_only=english_only)
        if c == d and bucket:
            found.setdefault((c, bucket), set()).add(frozenset([a, b]))
    return found


units_of_all_sorts = st.sets(
    st.tuples(st.integers(0, 2), st.sampled_from(["ENG", "FRE", "GER", "CZE"]), st.integers(0, 7)),
    max_size=40,
).map(sorted)


@settings(max_examples=100, deadline=None)
@given(units=units_of_all_sorts, english_only=st.booleans())
def test_without_caps_the_pairs_are_those_of_plain_loops(
    units: list[Unit], english_only: bool
) -> None:
    pairs, counts = draw(units, EVERYTHING, english_only=english_only)
    expected = plain_loops(units, english_only=english_only)
    found = [(c, frozenset([a, b])) for c, a, b in pairs.tolist()]
    assert len(found) == len(set(found))
    assert set(found) == {(c, pair) for (c, _), drawn in expected.items() for pair in drawn}
    by_bucket: Counter[str] = Counter()
    for (_, bucket), drawn in expected.items():
        by_bucket[bucket] += len(drawn)
    assert counts == dict(by_bucket)


@settings(max_examples=100, deadline=None)
@given(
    units=units_of_all_sorts,
    english_only=st.booleans(),
    limits=st.tuples(*[st.integers(0, 3)] * 3),
    seed=st.integers(0, 2**40),
)
def test_every_bucket_gives_its_cap_or_all_it_has(
    units: list[Unit], english_only: bool, limits: tuple[int, int, int], seed: int
) -> None:
    pairs, _ = draw(units, Caps(*limits), english_only=english_only, seed=seed)
    expected = plain_loops(units, english_only=english_only)
    owner = {(c, pair): bucket for (c, bucket), drawn in expected.items() for pair in drawn}
    buckets = [(c, owner[c, frozenset([a, b])]) for c, a, b in pairs.tolist()]
    found = Counter(buckets)
    for (concept, bucket), drawn in expected.items():
        kind = 2 if is_crosslingual(bucket) else 0 if bucket == ENGLISH else 1
        cap = limits[kind]
        assert found[concept, bucket] == min(cap, len(drawn))
    order = [(c, is_crosslingual(bucket), bucket != ENGLISH, bucket) for c, bucket in buckets]
    assert order == sorted(order), "sorted by concept and bucket"


def copies(of: list[tuple[str, int]], times: int) -> list[Unit]:
    return [(concept, language, text) for concept in range(times) for language, text in of]


# 7 English names and 5 French, two of which are English too.
SHAPE = [(ENGLISH, i) for i in range(7)] + [("FRE", i) for i in range(5, 10)]


# 20 English names and 15 French, five of which are English too: numbers are drawn.
LARGE = [(ENGLISH, i) for i in range(20)] + [("FRE", i) for i in range(15, 30)]


@pytest.mark.parametrize("cap", [1, 2, 3, 10])
@pytest.mark.parametrize("english_only", [True, False])
@pytest.mark.parametrize("shape", [SHAPE, LARGE], ids=["few", "many"])
def test_the_pairs_of_a_bucket_are_equally_likely(
    shape: list[tuple[str, int]], cap: int, english_only: bool
) -> None:
    times = 3000
    pairs, _ = draw(copies(shape, times), Caps(cap, cap, cap), english_only=english_only)
    seen = Counter(frozenset(pair) for pair in pairs[:, 1:].tolist())
    expected = plain_loops([(0, *unit) for unit in shape], english_only=english_only)
    for drawn in expected.values():
        counts = [seen[pair] for pair in drawn]
        assert sum(counts) == times * min(cap, len(drawn))
        if len(drawn) > cap:
            # Draws without replacement vary less than the test assumes, so that it is strict on
            # one side only: what is unlikely here is unlikely all the more.
            assert chisquare(counts).pvalue > 1e-3


def test_both_orientations_are_equally_likely_and_independent_of_the_bucket() -> None:
    pairs, _ = draw(copies(SHAPE, 2000), Caps(4, 4, 4))
    english, turned = pairs[:, 1] < pairs[:, 2], pairs[:, 1] > pairs[:, 2]
    assert chisquare([english.sum(), turned.sum()]).pvalue > 1e-3


def test_pairs_of_a_concept_depend_on_nothing_but_itself_and_the_seed() -> None:
    units = copies([(ENGLISH, i) for i in range(30)] + [("SPA", i) for i in range(40, 60)], 3)
    pairs, _ = draw(units, Caps(5, 5, 5))
    others = [(c, language, i) for c in (3, 4) for language, i in product(["AAA", "ENG"], range(9))]
    with_others, _ = draw([*others, *reversed(units)], Caps(5, 5, 5))
    assert with_others[with_others[:, 0] < 3].tolist() == pairs.tolist()
    reseeded, _ = draw(units, Caps(5, 5, 5), seed=1)
    assert reseeded.tolist() != pairs.tolist()
    first, second = (pairs[pairs[:, 0] == concept, 1:].tolist() for concept in (0, 1))
    assert first != second, "concepts of the same shape draw for themselves"


def test_the_draw_stays_what_it_was() -> None:
    """Published training sets can be made again: the hashes and draws never change."""
    pairs, _ = draw(copies(SHAPE, 2), Caps(1, 1, 1))
    assert pairs.tolist() == [[0, 5, 2], [0, 7, 8], [0, 7, 1], [1, 6, 2], [1, 7, 9], [1, 8, 0]]


def test_many_names_cost_no_more_than_the_caps() -> None:
    units = [
        (c, language, i) for c in range(20) for language in ("ENG", "SPA") for i in range(2000)
    ]
    units = [(c, lang, i + 2000 * (lang == "SPA")) for c, lang, i in units]
    tracemalloc.start()
    for english_only in (True, False):
        pairs, counts = draw(units, CAPS, english_only=english_only)
        assert len(pairs) == 20 * 150
        assert set(counts.values()) == {1000}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20  # of 160 million pairs that there are


def test_the_largest_bucket_is_numbered_right() -> None:
    units = [(0, ENGLISH, i) for i in range(100_000)]
    pairs, _ = draw(units, Caps(20_000, 0, 0))
    assert len(pairs) == 20_000
    assert 0 <= pairs[:, 1:].min() < 100
    assert 99_900 < pairs[:, 1:].max() < 100_000
    assert (pairs[:, 1] != pairs[:, 2]).all()


def test_more_pairs_than_fit_into_one_piece_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    units = copies(SHAPE, 40)
    whole, counts = draw(units, Caps(2, 2, 2))
    monkeypatch.setattr("training.preprocess.pairs._UNITS", 100)
    pieces, counts_of_pieces = draw(units, Caps(2, 2, 2))
    assert pieces.tolist() == whole.tolist()
    assert counts_of_pieces == counts


def test_caps_below_zero_and_too_many_languages_are_errors() -> None:
    with pytest.raises(BergamotError, match=r"B037.*cap_monolingual is -1"):
        Caps(50, -1, 50)
    with pytest.raises(BergamotError, match=r"T109.*64 languages"):
        draw([(0, f"L{i}", i) for i in range(64)], CAPS)
    assert len(draw([(0, f"L{i}", i % 2) for i in range(63)], CAPS)[0]) == 0
    pairs, counts = draw([(0, f"L{i}", n) for i in range(63) for n in (0, 1)], CAPS)
    assert (len(pairs), counts) == (1, {"L0": 1})


def test_no_units_give_no_pairs() -> None:
    pairs, counts = draw([], CAPS)
    assert (pairs.shape, pairs.dtype, counts) == ((0, 3), np.int32, {})


def test_names_are_stripped_and_lower_cased_and_never_paired_with_themselves(
    tmp_path: Path,
) -> None:
    rows = [name("C1", text) for text in ("Aspirin", " aspirin ", "ASPIRIN", "ÉTÉ")]
    built = build(tmp_path, [*rows, name("C1", "aspirin", "SPA")])
    assert [sorted(pair) for _, *pair in built.pairs()] == [["aspirin", "été"]]


def test_trade_names_make_pairs_but_are_no_names_of_the_node(tmp_path: Path) -> None:
    rows = [
        name("C1", "ibuprofen"),
        name("C2", "brand"),
        name("C2", "marque", "FRE"),
        name("C3", "other brand"),
        name("C4", "no brand"),
    ]
    relations = [
        relation("C1", "C2", "RO", "has_tradename"),
        relation("C1", "C3", "RO", "tradename_of"),
        relation("C1", "C4", "RO", "has_ingredient"),
    ]
    built = build(tmp_path, rows, relations)
    found = {(cui, *sorted(pair)) for cui, *pair in built.pairs()}
    assert found == {
        ("C1", "brand", "ibuprofen"),
        ("C1", "brand", "other brand"),
        ("C1", "ibuprofen", "other brand"),
        ("C1", "ibuprofen", "marque"),
        ("C1", "marque", "other brand"),
        ("C2", "brand", "marque"),
        ("C1", "brand", "marque"),
    }
    assert built.manifests["train"]["pairs_by_bucket"] == {"ENG": 3, "ENG|FRE": 4}
    assert built.node_names()["C1"] == ["ibuprofen"]
    assert built.homonyms() == {"C1": ["C2", "C3"], "C2": ["C1"], "C3": ["C1"], "C4": []}


def test_an_own_name_that_is_a_trade_name_too_stays_a_name_of_the_node(tmp_path: Path) -> None:
    rows = [name("C1", "paracetamol"), name("C1", "shared"), name("C2", "shared")]
    built = build(tmp_path, rows, [relation("C1", "C2", "RO", "has_tradename")])
    assert built.node_names() == {"C1": ["paracetamol", "shared"], "C2": ["shared"]}
    assert len(built.pairs()) == 1


def test_a_string_of_two_languages_pairs_in_both(tmp_path: Path) -> None:
    rows = [name("C1", "coma"), name("C1", "coma", "SPA"), name("C1", "deep sleep")]
    built = build(tmp_path, [*rows, name("C1", "sueño", "SPA")])
    counts = built.manifests["train"]["pairs_by_bucket"]
    assert counts == {"ENG": 1, "SPA": 1, "ENG|SPA": 1}
    assert {tuple(sorted(pair)) for _, *pair in built.pairs()} == {
        ("coma", "deep sleep"),
        ("coma", "sueño"),
        ("deep sleep", "sueño"),
    }
