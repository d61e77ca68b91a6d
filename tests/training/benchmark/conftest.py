"""The sample and the homonyms, to be run as benchmarks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.training.rerank.conftest import corpus, make_pipeline, pipeline
from training.__main__ import app

__all__ = ["corpus", "make_pipeline", "pipeline"]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    """Run a config's text with overrides; its output is `tmp_path/out`."""

    def invoke(text: str, *overrides: object) -> Result:
        path = tmp_path / "it.cfg"
        path.write_text(text, "utf8")
        words = ["benchmark", path, "--paths.output", tmp_path / "out", *overrides]
        return CliRunner().invoke(app, [str(word) for word in words])

    return invoke
