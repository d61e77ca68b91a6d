"""A finder that was not trained."""

from pathlib import Path

import pytest
import torch

from spacy_bergamot.finder import Tagger
from tests.spacy_bergamot.conftest import write_lm


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finder that was not trained: what it says is random, but always the same."""
    root = tmp_path_factory.mktemp("finder")
    torch.manual_seed(0)
    Tagger.begin(write_lm(root / "lm"), ["DISO", "PROC"]).save(root / "finder")
    return root / "finder"
