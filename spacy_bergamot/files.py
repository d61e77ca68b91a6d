"""Files that are whole or absent: atomic writes, and manifests with sizes and checksums."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy_bergamot import __version__
from spacy_bergamot.errors import BergamotError, Errors

MANIFEST = "manifest.json"
_CHUNK = 1 << 22


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds."""
    path = Path(path)
    temporary = _temporary_name(path)
    try:
        with _explain_write_errors(path):
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
    with _explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        with _explain_write_errors(path):
            os.chmod(temporary, 0o755)
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _sync(file)
            _swap(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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


def read_manifest(folder: Path, *, kind: str, version: int, checksums: bool = True) -> dict:
    """Read and check a manifest: its kind, its version, and every file that it lists.

    checksums (bool): Compare SHA-256 too; sizes are always compared.
    RAISES (BergamotError): B001 to B006, naming the file.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        remedy = f"A {kind} folder has a manifest; build it again, or correct the path."
        raise BergamotError(Errors.B001.format(path=path, remedy=remedy))
    try:
        manifest = json.loads(path.read_text(encoding="utf8"))
        found, number, files = manifest["kind"], manifest["format_version"], manifest["files"]
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
    for name, entry in files.items():
        _check_file(Path(folder) / name, entry, checksums=checksums)
    return manifest


def _check_file(path: Path, entry: dict[str, Any], *, checksums: bool) -> None:
    if not path.is_file():
        remedy = "Its manifest lists it; rebuild the folder or restore it from a backup."
        raise BergamotError(Errors.B001.format(path=path, remedy=remedy))
    size = path.stat().st_size
    if size != entry["bytes"]:
        raise BergamotError(Errors.B005.format(path=path, found=size, expected=entry["bytes"]))
    if checksums and sha256(path) != entry["sha256"]:
        raise BergamotError(Errors.B006.format(path=path))


def _is_ours(path: Path) -> bool:
    return path.is_dir() and ((path / MANIFEST).is_file() or not any(path.iterdir()))


def _temporary_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _swap(temporary: Path, path: Path) -> None:
    """Put `temporary` in the place of `path`; the old folder is removed last."""
    old = _temporary_name(path).with_suffix(".old")
    if path.exists():
        os.replace(path, old)
    os.replace(temporary, path)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _explain_write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT):
            raise
        raise BergamotError(Errors.B007.format(path=path, reason=error.strerror)) from error
