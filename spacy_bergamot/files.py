"""Files that are whole or absent: atomic writes, and manifests with sizes and checksums."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot import __version__
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.preflight import cores, free_disk

MANIFEST = "manifest.json"
_CHUNK = 1 << 18
_REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
_FULL = 1 << 20  # free bytes below which a failed write without an error number means a full disk


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits, read in pieces."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as stream:
        while size := stream.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds."""
    path = Path(path)
    temporary = _temporary_name(path)
    try:
        with explained_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
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
        raise BergamotError(Errors.B008.format(path=path))
    with explained_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    lock = _lock(temporary)
    try:
        with explained_write_errors(path):
            os.chmod(temporary, 0o755)
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _sync(file)
            _swap(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def explained_write_errors(path: Path) -> Iterator[None]:
    """Raise B007, naming `path`, for a disk that is full or refuses: also where the library that
    wrote names no error number, as numpy, safetensors and the search engines do."""
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
        raise BergamotError(Errors.B007.format(path=path, reason=os.strerror(number))) from error


def mapped_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return a new .npy file mapped for writing, its space taken from the disk at once: writing to
    a map of a full disk kills the process (SIGBUS)."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    return array


def write_manifest(folder: Path, *, kind: str, version: int, **fields: Any) -> dict[str, Any]:
    """Write `folder`/manifest.json with sizes and checksums of every other file in it.

    kind (str): What the folder is, such as "concept-table".
    version (int): Version of the on-disk format.
    fields (Any): JSON-serialisable facts: counts, sources, options.
    RETURNS (dict): The manifest.
    """
    files = {
        file.relative_to(folder).as_posix(): {"bytes": file.stat().st_size, "sha256": sha256(file)}
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file != folder / MANIFEST
    }
    head = {"kind": kind, "format_version": version, "written_by": f"spacy_bergamot {__version__}"}
    manifest = {**head, **fields, "files": files}
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf8")
    return manifest


def files_fingerprint(manifest: dict[str, Any]) -> str:
    """Hash the checksums of all files in a manifest (hex, 64 digits)."""
    text = json.dumps(manifest["files"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(folder: Path, *, kind: str, version: int, checksums: bool = True) -> dict:
    """Read and check a manifest: its kind, its version, and every file that it lists.

    checksums (bool): Compare SHA-256 too; sizes are always compared.
    RAISES (BergamotError): B001 to B006, naming the file.
    """
    with checked_manifest(folder, kind=kind, version=version, checksums=checksums) as manifest:
        return manifest


@contextmanager
def checked_manifest(
    folder: Path, *, kind: str, version: int, checksums: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield a manifest while its files are hashed in threads; the rest is as in `read_manifest`.

    The block may load the files, and use nothing of them: a changed one is refused when the block
    is left, also where the block failed on it.
    """
    folder = Path(folder)
    manifest = _parsed(folder, kind=kind, version=version)
    files: dict[str, dict[str, Any]] = manifest["files"]
    for name, entry in files.items():
        _check_size(folder / name, entry["bytes"])
    if not checksums:
        yield manifest
        return
    names = sorted(files, key=lambda name: files[name]["bytes"], reverse=True)
    with ThreadPoolExecutor(cores()) as pool:
        digests = pool.map(sha256, [folder / name for name in names])
        try:
            yield manifest
        finally:
            for name, digest in zip(names, digests, strict=True):
                if digest != files[name]["sha256"]:
                    raise BergamotError(Errors.B006.format(path=folder / name))


def _parsed(folder: Path, *, kind: str, version: int) -> dict[str, Any]:
    """Read a manifest and check its kind and version."""
    path = folder / MANIFEST
    if not path.is_file():
        remedy = f"A {kind} folder has a manifest; build it again, or correct the path."
        raise BergamotError(Errors.B001.format(path=path, remedy=remedy))
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
        found, number, _ = manifest["kind"], manifest["format_version"], manifest["files"]
    except (ValueError, KeyError, TypeError) as reason:
        raise BergamotError(
            Errors.B002.format(path=path, what="a manifest", reason=reason)
        ) from None
    if found != kind:
        raise BergamotError(Errors.B003.format(path=folder, found=found, expected=kind))
    if number != version:
        writer = manifest.get("written_by", "unknown")
        raise BergamotError(
            Errors.B004.format(path=folder, found=number, expected=version, writer=writer)
        )
    return manifest


def _check_size(path: Path, expected: int) -> None:
    if not path.is_file():
        remedy = "Its manifest lists it; rebuild the folder or restore it from a backup."
        raise BergamotError(Errors.B001.format(path=path, remedy=remedy))
    size = path.stat().st_size
    if size != expected:
        raise BergamotError(Errors.B005.format(path=path, found=size, expected=expected))


def _is_ours(path: Path) -> bool:
    return path.is_dir() and ((path / MANIFEST).is_file() or not any(path.iterdir()))


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary folders that killed processes left beside `path`."""
    for folder in path.parent.iterdir():
        if folder.name.startswith(f".{path.name}.") and folder.suffix == ".part":
            lock = _lock(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder and return the handle; None if another process has it, or none can have it."""
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


def _temporary_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


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
