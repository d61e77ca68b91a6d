"""Steps that last are logged."""

import pytest

from spacy_bergamot.kb_import.progress import timed


def test_a_step_is_named_before_and_after_it(caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    with timed("Reading"):
        assert caplog.messages == ["Reading …"]
    assert caplog.messages[1].startswith("Reading: ")
    assert "peak" in caplog.messages[1]
