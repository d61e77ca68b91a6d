"""What probabilities are worth: errors and thresholds, as they are reckoned by hand."""

import numpy as np
import pytest

from spacy_bergamot.linking.calibration_report import (
    Observation,
    expected_calibration_error,
    report_of,
)


def test_the_calibration_error_by_hand():
    # Bins 0.0 to 0.1 and 0.9 to 1.0: |0.05 - 0.5| · 1/2 + |0.95 - 1| · 1/2
    probabilities = np.array([0.05, 0.05, 0.95, 0.95])
    right = np.array([0.0, 1.0, 1.0, 1.0])
    assert expected_calibration_error(probabilities, right) == pytest.approx(0.25)


def test_thresholds_by_hand():
    # By probability: right, right, wrong, right; five mentions have a concept.
    held = np.array([0.9, 0.8, 0.6, 0.5])
    seen = [
        Observation(str(n), (1.0, score), ("", "DISO", "DISO|ENG"), right)
        for n, (score, right) in enumerate(zip(held, [True, True, False, True], strict=True))
    ]
    report = report_of(seen, held, [0.75, 0.9], linkable=5)
    assert report["thresholds"]["0.75"] == {
        "probability": 0.5, "precision": 0.75, "recall": 0.6, "f1": 0.6667, "linked": 1.0,
    }  # fmt: skip
    assert report["thresholds"]["0.9"]["probability"] == 0.8
    assert report["best"]["probability"] == 0.5
    assert report["most_precise"]["probability"] == 0.8
    assert report["levels"].keys() == {"DISO", "DISO|ENG"}
    assert (report["linked"], report["accuracy"]) == (4, 0.75)
