import numpy as np
from scipy.stats import chisquare, kstest

from spacy_bergamot.hashing import string_keys
from training.preprocess.hashing import mix, uniform


def test_mix_is_the_published_generator() -> None:
    """The first output of splitmix64 with seed 0, from the reference implementation."""
    assert int(mix(0)[0]) == 0xE220A8397B1DCDAF


def test_similar_strings_have_hashes_that_are_spread() -> None:
    values = mix(7, string_keys(f"C{i:07d}" for i in range(20_000)))
    assert len(np.unique(values)) == 20_000
    assert kstest(uniform(values), "uniform").pvalue > 1e-3
    for shift in (0, 8, 32, 56):
        counts = np.bincount((values >> np.uint64(shift)).astype(np.int64) & 15, minlength=16)
        assert chisquare(counts).pvalue > 1e-3


def test_uniform_is_below_one() -> None:
    most = np.array([0, 2**64 - 1], dtype=np.uint64)
    assert uniform(most).tolist() == [0.0, 1 - 2.0**-53]
