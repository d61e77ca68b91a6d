"""The command line over the invented pipeline."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spacy_bergamot.factories import invoke


@pytest.fixture
def run(saved: Path) -> Callable[..., str]:
    """Run a command of the saved pipeline and return what it prints."""

    def run(command: str, *arguments: object, status: int = 0) -> str:
        return invoke(command, saved, *arguments, status=status).output

    return run
