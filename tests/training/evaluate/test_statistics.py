from math import comb, erfc, sqrt

import numpy as np
import pytest
import scipy.stats

from training.evaluate.statistics import bootstrap_interval, compare, mcnemar, wilcoxon


def hits(*counts: int) -> tuple[np.ndarray, np.ndarray]:
    """Both right, one alone, the other alone, both wrong."""
    one = np.repeat([1, 1, 0, 0], counts)
    other = np.repeat([1, 0, 1, 0], counts)
    return one, other


@pytest.mark.parametrize(("alone", "other_alone"), [(10, 2), (3, 3), (1, 0), (30, 60)])
def test_mcnemar_is_the_binomial_tail(alone: int, other_alone: int):
    one, other = hits(20, alone, other_alone, 7)
    n, least = alone + other_alone, min(alone, other_alone)
    tail = min(1, 2 * sum(comb(n, i) for i in range(least + 1)) / 2**n)
    assert mcnemar(one, other) == pytest.approx(tail)
    assert mcnemar(one, other) == pytest.approx(scipy.stats.binomtest(alone, n).pvalue)


@pytest.mark.parametrize(("alone", "other_alone"), [(10, 2), (3, 3), (30, 60)])
def test_wilcoxon_on_hits_is_the_sign_test_s_normal_form(alone: int, other_alone: int):
    one, other = hits(20, alone, other_alone, 7)
    # All differences tie, so z = (wins - losses) / sqrt(wins + losses).
    z = abs(alone - other_alone) / sqrt(alone + other_alone)
    assert wilcoxon(one, other) == pytest.approx(erfc(z / sqrt(2)))
    expected = scipy.stats.wilcoxon(one, other, method="asymptotic").pvalue
    assert wilcoxon(one, other) == pytest.approx(expected)


def test_equal_systems_do_not_differ():
    one, _ = hits(5, 5, 5, 5)
    assert mcnemar(one, one) == wilcoxon(one, one) == 1
    result = compare(one, one)
    assert (result["difference"], result["low"], result["high"]) == (0, 0, 0)


def test_bootstrap_agrees_with_scipy_and_its_seed():
    values = np.repeat([1.0, 0.0], [70, 130])
    interval = bootstrap_interval(values, samples=4000)
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile")
    assert interval.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert interval.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)
    assert bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)
    assert np.isnan(bootstrap_interval(np.empty(0)).low)


def test_documents_are_drawn_whole():
    """Ten documents of ten mentions each: by hand, what drawing the documents' means gives."""
    rng = np.random.default_rng(0)
    means = rng.random(10)
    values, documents = np.repeat(means, 10), np.repeat(np.arange(10) * 7, 10)
    whole = bootstrap_interval(values, documents, samples=20_000)
    theirs = scipy.stats.bootstrap((means,), np.mean, n_resamples=20_000, method="percentile")
    assert whole == pytest.approx(tuple(theirs.confidence_interval), abs=0.01)
    assert whole.high - whole.low > 2 * np.diff(bootstrap_interval(values))[0]
    assert bootstrap_interval(values, np.arange(100)) == bootstrap_interval(values)
    # Of documents of 1 and 3 mentions the mean is over mentions, not over documents.
    low, high = bootstrap_interval(np.array([1.0, 0, 0, 0]), np.array([0, 1, 1, 1]))
    assert (low, high) == (0, 1)
    one = np.array([True, True, False, False])
    both = compare(one, ~one, np.array([0, 0, 1, 1])), compare(one, ~one)
    assert both[0]["low"] == -100
    assert both[1]["mcnemar_p"] == both[0]["mcnemar_p"]


def test_the_interval_of_a_difference_is_paired():
    one, other = hits(500, 20, 5, 475)
    result = compare(one, other)
    assert result["difference"] == pytest.approx(1.5)
    assert (result["wins"], result["losses"]) == (20, 5)
    assert 0 < result["low"] < 1.5 < result["high"] < 3
    # Unpaired, the interval would be about 4.4 to either side.
    unpaired = 100 * sqrt(2 * 0.25 / 1000) * 1.96
    assert result["high"] - result["low"] < unpaired
