"""Property-based tests have no deadline; the package that `make run` makes has a stand-in."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("without_deadline", deadline=None)
settings.load_profile("without_deadline")


@pytest.fixture(scope="session")
def sample_package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make `xx_bergamot_sample` importable, as the documentation and the examples load it."""
    from tests.sample_package import write_sample_package

    folder = write_sample_package(tmp_path_factory.mktemp("sample"))
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")  # no longer: no event loop of other tests may run beside it
def window() -> Iterator[Any]:
    """Start a browser, where there is one."""
    from website.screenshots import Missing, browser

    try:
        with browser() as window:
            yield window
    except Missing as reason:
        pytest.skip(str(reason))
