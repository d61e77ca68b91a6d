"""Folders and files on this machine or in an object store, by fsspec's URLs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.storage.files import atomic_file
from spacy_bergamot.storage.scratch import Scratch


def located(url: str | Path) -> tuple[Any, str]:
    """Return a file system of fsspec and the path in it.

    url (str | Path): A path, or an URL such as s3://bucket/notes.
    RAISES (BergamotError): B172 if no such file system can be reached.
    """
    try:
        return fsspec.core.url_to_fs(str(url))
    except Exception as reason:  # an unknown protocol, a package that is missing, a login
        raise BergamotError(Errors.B172, path=url, reason=reason) from None


class Store:
    """A folder that files are written into, each whole or not at all.

    url (str | Path): A path, or an URL of fsspec.
    """

    def __init__(self, url: str | Path) -> None:
        self.url = str(url).rstrip("/")
        self._files, self._root = located(url)
        self._is_local = isinstance(self._files, LocalFileSystem)

    def names(self) -> list[str]:
        """Return the names of what is in the folder.

        RAISES (BergamotError): B101 if a file stands there, B172 if it cannot be reached.
        """
        try:
            if self._files.isfile(self._root):
                raise BergamotError(Errors.B101, path=self.url, reason="is a file, no folder")
            found = self._files.ls(self._root, detail=False)
        except FileNotFoundError:
            return []
        except OSError as reason:
            raise BergamotError(Errors.B172, path=self.url, reason=reason) from None
        return sorted(os.path.basename(path.rstrip("/")) for path in found)  # noqa: PTH119

    def path(self, name: str) -> str:
        """Return the URL of a file in the folder, for messages.

        name (str): Of the file, below the folder.
        """
        return f"{self.url}/{name}"

    def has(self, name: str) -> bool:
        """Tell whether a file is there.

        name (str): Of the file, below the folder.
        """
        return bool(self._files.exists(f"{self._root}/{name}"))

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading.

        name (str): Of the file, below the folder.
        """
        return self._files.open(f"{self._root}/{name}", "rb")

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """Yield a temporary path; what is there at the end of the block becomes the file.

        name (str): Of the file, below the folder.
        RAISES (BergamotError): B007 if the disk is full or refuses.
        """
        if self._is_local:
            with atomic_file(Path(self._root) / name) as path:
                yield path
            return
        with Scratch() as folder:  # an object appears in its store whole, when it has been sent
            path = folder / os.path.basename(name)  # noqa: PTH119
            yield path
            try:
                self._files.makedirs(os.path.dirname(f"{self._root}/{name}"), exist_ok=True)  # noqa: PTH120
                self._files.put_file(str(path), f"{self._root}/{name}")
            except OSError as reason:
                raise BergamotError(Errors.B007, path=self.path(name), reason=reason) from None
