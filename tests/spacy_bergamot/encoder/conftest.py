"""A small model in the layout of the package's weights."""

from pathlib import Path

import numpy as np
import pytest

from tests.spacy_bergamot.encoder.packed_files import write_packed


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    path = tmp_path_factory.mktemp("weights") / "weights.bin"
    return path, write_packed(path)
