import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from training.preprocess import hashing
from training.preprocess.hashing import mix, string_hashes, uniform


def hashes(strings: list[str]) -> list[int]:
    return string_hashes(pa.array(strings, pa.large_string())).tolist()


def splitmix(value: int, state: int = 0) -> int:
    """One step of `mix` in plain Python."""
    mask = (1 << 64) - 1
    state = ((state ^ value) + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def plain(text: str) -> int:
    total = sum(splitmix(place, splitmix(byte)) for place, byte in enumerate(text.encode("utf8")))
    return splitmix(len(text.encode("utf8")), splitmix(total % (1 << 64)))


def test_mix_is_the_published_generator() -> None:
    """The first output of splitmix64 with seed 0, from the reference implementation."""
    assert int(mix(0)[0]) == 0xE220A8397B1DCDAF


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20))
def test_string_hashes_equal_those_of_plain_python(strings: list[str]) -> None:
    assert hashes(strings) == [plain(text) for text in strings]


@pytest.mark.parametrize("length", [1023, 1024, 1025, 2000])
def test_long_strings_are_hashed_as_short_ones(length: int) -> None:
    strings = ["é", "y" * (length - 1) + "z"]
    assert hashes(strings) == [plain(text) for text in strings]


def test_a_hash_depends_on_the_string_alone(monkeypatch) -> None:
    strings = ["", "a", "b", "ab", "ba", "", "é", "a" * 999]
    whole = hashes(strings)
    assert hashes(strings[::-1]) == whole[::-1]
    sliced = pa.array(["x", *strings, "y"], pa.string())[1:-1]
    assert string_hashes(sliced).tolist() == whole
    monkeypatch.setattr(hashing, "_STRINGS", 3)
    assert hashes(strings) == whole
    assert len(set(whole)) == len(set(strings))


def test_similar_strings_have_hashes_that_are_spread() -> None:
    values = string_hashes(pa.array([f"C{i:07d}" for i in range(20_000)]))
    assert len(np.unique(values)) == 20_000
    assert kstest(uniform(values), "uniform").pvalue > 1e-3
    for shift in (0, 8, 32, 56):
        counts = np.bincount((values >> np.uint64(shift)).astype(np.int64) & 15, minlength=16)
        assert chisquare(counts).pvalue > 1e-3


def test_uniform_is_below_one() -> None:
    most = np.array([0, 2**64 - 1], dtype=np.uint64)
    assert uniform(most).tolist() == [0.0, 1 - 2.0**-53]


def test_mix_goes_on_from_the_hash_of_the_values_before() -> None:
    values, more = np.arange(5), np.arange(5, 10)
    before = mix(values)
    kept = before.copy()
    assert mix(more, 3, state=before).tolist() == mix(values, more, 3).tolist()
    assert before.tolist() == kept.tolist()
