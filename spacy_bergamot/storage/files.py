"""Files that are whole or absent: atomic writes."""

import errno
import glob
import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.preflight import free_disk

MANIFEST = "manifest.json"
NOT_OURS = "exists and was not written by spacy_bergamot"
_CHUNK = 1 << 18
_HERE = f"@{platform.node()}.part"
_REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
_FULL = 1 << 20  # free bytes below which a failed write without an error number means a full disk


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits, read in pieces.

    path (Path): The file.
    """
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as stream:
        while size := stream.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds.

    path (Path): Where the file is to be; its folder is made.
    RAISES (BergamotError): B007 if the disk is full or refuses.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_HERE}")
    try:
        with explained_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned_files(path)
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder beside `path`; it takes `path`'s place on success.

    A folder that stands at `path` is replaced only if it is empty or has a manifest of ours,
    so that a mistyped output path cannot delete somebody's files.
    """
    path = Path(path)
    if path.exists() and not _is_ours(path):
        raise BergamotError(Errors.B101, path=path, reason=NOT_OURS)
    with explained_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    lock = lock_folder(temporary)
    try:
        with explained_write_errors(path):
            yield temporary
            _give_usual_modes(temporary)
            for file in temporary.rglob("*"):
                if file.is_file():
                    _sync(file)
            _swap(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all.

    path (Path): The file. text (str): Written as UTF-8.
    RAISES (BergamotError): B007 if the disk is full or refuses.
    """
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf8", newline="\n")


@contextmanager
def explained_write_errors(path: Path) -> Iterator[None]:
    """Raise B007, naming `path`, for a disk that is full or refuses.

    Also where the library that wrote names no error number, as numpy, safetensors and the search
    engines do.

    path (Path): What is being written.
    """
    try:
        yield
    except BergamotError:
        raise
    except Exception as error:
        number = getattr(error, "errno", None)
        full = os.strerror(errno.ENOSPC) in str(error) or free_disk(path.parent) < _FULL
        if number is None and full:
            number = errno.ENOSPC
        if number not in _REFUSED:
            raise
        raise BergamotError(Errors.B007, path=path, reason=os.strerror(number)) from error


def mapped_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return a new .npy file mapped for writing, its space taken from the disk at once.

    Writing to a map of a full disk kills the process (SIGBUS).

    path (Path): The file; one that is there is replaced.
    dtype (Any): NumPy's type of the numbers.
    shape (tuple[int, ...]): Of the array.
    """
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    return array


def _is_ours(path: Path) -> bool:
    return path.is_dir() and ((path / MANIFEST).is_file() or not any(path.iterdir()))


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary folders that killed processes left beside `path`."""
    for folder in path.parent.iterdir():
        if folder.name.startswith(f".{path.name}.") and folder.suffix == ".part":
            lock = lock_folder(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def lock_folder(folder: Path) -> int | None:
    """Lock a folder and return the handle; None if another process has it, or none can have it.

    folder (Path): One that is there.
    """
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove_abandoned_files(path: Path) -> None:
    """Remove the temporary files beside `path` of processes of this machine that are no more."""
    for file in path.parent.glob(f".{glob.escape(path.name)}.*{glob.escape(_HERE)}"):
        number = file.name.removesuffix(_HERE).rpartition(".")[2]
        if number.isdigit() and not _is_alive(int(number)):
            file.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


def _give_usual_modes(folder: Path) -> None:
    """Give all in a folder the modes of anything new.

    safetensors writes for the owner alone, and copies keep the modes that they had elsewhere.
    """
    mask = os.umask(0o077)  # which can only be read by setting it
    os.umask(mask)
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            os.chmod(path, (0o777 if path.is_dir() else 0o666) & ~mask)


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _swap(temporary: Path, path: Path) -> None:
    """Put `temporary` in the place of `path`; the old folder is removed last."""
    old = path.with_name(f".{path.name}.{os.getpid()}.old.part")
    if path.exists():
        os.replace(path, old)
    os.replace(temporary, path)
    shutil.rmtree(old, ignore_errors=True)
