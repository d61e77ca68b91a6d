"""Temporary folders of processes that may be killed: the next process removes what they left."""

import os
import shutil
import tempfile
import uuid
import weakref
from pathlib import Path
from typing import Any

from spacy_bergamot.storage.files import lock_folder

_SUFFIX = ".scratch"


class Scratch:
    """A folder that goes when this object goes, or at the end of a with statement.

    It is locked for as long as it is in use, so that one without a lock is surely abandoned.

    parent (Path | None): Where it is made; None is the system's temporary folder.
    prefix (str): What its name begins with. Abandoned ones of this prefix are removed.
    path (Path): The folder.
    """

    def __init__(self, parent: Path | None = None, *, prefix: str = "spacy_bergamot") -> None:
        parent = Path(parent or tempfile.gettempdir())
        _remove_abandoned(parent, prefix)
        made = Path(tempfile.mkdtemp(prefix=f".{prefix}.", dir=parent))
        handle = lock_folder(made)
        # It gets the name that others look for when it is locked, not before.
        self.path = parent / f"{prefix}.{uuid.uuid4().hex}{_SUFFIX}"
        os.replace(made, self.path)
        self._end = weakref.finalize(self, _remove, self.path, handle)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: Any) -> None:
        self._end()


def _remove_abandoned(parent: Path, prefix: str) -> None:
    for folder in parent.glob(f"{prefix}.*{_SUFFIX}"):
        handle = lock_folder(folder)
        if handle is not None:
            _remove(folder, handle)


def _remove(folder: Path, handle: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if handle is not None:
        os.close(handle)
