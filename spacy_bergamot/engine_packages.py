"""The packages that search engines need, imported when they are asked for."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spacy_bergamot.errors import BergamotError, Errors

_STDERR = 2


def import_nmslib() -> Any:
    """Import nmslib without what it says of the CPU; `nmslib_build` says it when one is built.

    Its C++ code writes straight to the handle of standard error, at every import.

    RAISES (BergamotError): B022 if it cannot be imported.
    """
    if sys.modules.get("nmslib"):
        return sys.modules["nmslib"]
    try:
        with _silent_stderr():
            return importlib.import_module("nmslib")
    except ImportError as reason:
        raise BergamotError(Errors.B022.format(reason=reason)) from reason


@contextmanager
def _silent_stderr() -> Iterator[None]:
    try:
        before = os.dup(_STDERR)
    except OSError:  # closed, as of a daemon: nothing can be written to it
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDERR)
        yield
    finally:
        os.dup2(before, _STDERR)
        os.close(before)
        os.close(nowhere)


def import_usearch() -> Any:
    """Import usearch. RAISES (BergamotError): B042 if it is not installed."""
    try:
        import usearch.index
    except ImportError:
        message = Errors.B042.format(name="usearch", package="usearch")
        raise BergamotError(message) from None
    return usearch.index


PACKAGES: dict[str, Callable[[], Any]] = {"nmslib": import_nmslib, "usearch": import_usearch}
"""What imports the package of an engine, by the engine's name."""
