"""FileBundle: a folder that a component carries. The bytes of its files are the truth."""

import shutil
from pathlib import Path

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.files import atomic_folder, explained_write_errors
from spacy_bergamot.storage.scratch import Scratch

_MSGPACK_LIMIT = 2**32 - 1


class FileBundle:
    """Files in a folder, which readers map into memory and which are never changed.

    path (Path): The folder.
    owner (Scratch | None): Keeps the folder alive if the bundle owns it.
    """

    def __init__(self, path: Path, owner: Scratch | None = None) -> None:
        self.path = path
        self.owner = owner

    @classmethod
    def temporary(cls) -> "FileBundle":
        """Return a bundle in an empty folder that goes when the bundle goes."""
        owner = Scratch()
        return cls(owner.path / "files", owner)

    @classmethod
    def from_bytes(cls, files: dict[str, bytes]) -> "FileBundle":
        """Unpack files into a folder of the bundle's own."""
        bundle = cls.temporary()
        for name, data in files.items():
            path = (bundle.path / name).resolve()
            if not path.is_relative_to(bundle.path.resolve()):
                raise BergamotError(Errors.B035, path=name, name="bundle", reason="bad path")
            with explained_write_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        return bundle

    def to_bytes(self, *, name: str) -> dict[str, bytes]:
        """Return the files by relative path.

        name (str): Of the component, for errors.
        RETURNS (dict[str, bytes]): Bytes by path relative to the folder.
        RAISES (BergamotError): B034 beyond 4 GiB.
        """
        size = sum(file.stat().st_size for file in self._files())
        if size > _MSGPACK_LIMIT:
            raise BergamotError(Errors.B034, name=name, size=size, limit=_MSGPACK_LIMIT)
        return self._content()

    def __reduce__(self) -> tuple:
        """Pickle the path, or the bytes of the files where the bundle owns them."""
        if self.owner is None:
            return FileBundle, (self.path,)
        return FileBundle.from_bytes, (self._content(),)

    def copy_to(self, path: Path) -> None:
        """Copy the files, whole or not at all; copying onto themselves is safe.

        path (Path): The folder that takes them; one with a manifest is replaced.
        """
        with atomic_folder(path) as folder:
            shutil.copytree(self.path, folder, dirs_exist_ok=True)

    def _files(self) -> list[Path]:
        return [file for file in sorted(self.path.rglob("*")) if file.is_file()]

    def _content(self) -> dict[str, bytes]:
        return {file.relative_to(self.path).as_posix(): file.read_bytes() for file in self._files()}
