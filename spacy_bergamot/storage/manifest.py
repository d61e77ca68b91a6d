"""Manifests: what a folder is, and the sizes and checksums of the files in it and of itself.

What is read is not trusted: it is parsed by a schema, and a name that leads out of the folder is
refused before anything of that name is opened.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from spacy_bergamot import __version__
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.files import MANIFEST, sha256
from spacy_bergamot.storage.preflight import cores

Fields = Mapping[str, type]
"""Types of what a kind of manifest must have beside its head."""

_HEAD: Fields = {"kind": str, "format_version": int, "files": dict}
_OWN = "manifest_sha256"
_LONGEST = 255
_CHECKSUM = "it does not match its checksum, so it was changed"


def write_manifest(folder: Path, *, kind: str, version: int, **fields: Any) -> dict[str, Any]:
    """Write `folder`/manifest.json with sizes and checksums of every other file in it.

    kind (str): What the folder is, such as "concept-table".
    version (int): Version of the on-disk format.
    fields (Any): JSON-serialisable facts: counts, sources, options.
    RETURNS (dict): The manifest.
    """
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)}
        for name in listed(folder)
    }
    head = {"kind": kind, "format_version": version, "written_by": f"spacy_bergamot {__version__}"}
    manifest = {**head, **fields, "files": files}
    manifest[_OWN] = _own_checksum(manifest)
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf8")
    return manifest


def files_fingerprint(manifest: Mapping[str, Any]) -> str:
    """Hash the checksums of all files in a manifest (hex, 64 digits)."""
    text = json.dumps(manifest["files"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def listed(folder: Path) -> list[str]:
    """Return the names of what a manifest of a folder lists: every file in it but the manifest."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return [file.relative_to(folder).as_posix() for file in files if file != folder / MANIFEST]


def read_manifest(
    folder: Path, *, kind: str, version: int, fields: Fields | None = None, checksums: bool = True
) -> dict[str, Any]:
    """Read and check a manifest: its form, its kind, its version, and every file that it lists.

    folder (Path): The folder that it lists.
    fields (dict[str, type] | None): What it must have beside its head.
    checksums (bool): Compare SHA-256 too; sizes are always compared.
    RAISES (BergamotError): B001 to B006 and B110, naming the file.
    """
    with checked_manifest(
        folder, kind=kind, version=version, fields=fields, checksums=checksums
    ) as manifest:
        return manifest


@contextmanager
def checked_manifest(
    folder: Path,
    *,
    kind: str,
    version: int,
    also: tuple[int, ...] = (),
    fields: Fields | None = None,
    checksums: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield a manifest while its files are hashed in threads; the rest is as in `read_manifest`.

    also (tuple[int, ...]): Earlier versions that are read too.

    The block may load the files, and use nothing of them: a changed one is refused when the block
    is left, also where the block failed on it.

    folder (Path): The folder that it lists.
    kind (str): What the manifest must say it is of.
    version (int): Of the format.
    fields (Mapping[str, type]): What it must have, and of which type.
    checksums (bool): Compare the files' checksums too.
    """
    folder = Path(folder)
    manifest = _parsed(folder, kind=kind, version=version, also=also, fields=fields)
    files: dict[str, dict[str, Any]] = manifest["files"]
    for name, entry in files.items():
        _check_size(folder, name, entry["bytes"])
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
                    raise BergamotError(Errors.B006, path=folder / name, reason=_CHECKSUM)


def differences(folder: Path, *, kind: str | None = None, version: int | None = None) -> list[str]:
    """Return what is wrong with each file of a folder: changed, missing, or not in its manifest.

    kind (str | None): What the manifest must say it is of; None for anything.
    version (int | None): Of the format; None for any.
    RAISES (BergamotError): If the manifest itself cannot be read or trusted.
    """
    files = _parsed(folder, kind=kind, version=version)["files"]
    found = []
    for name, entry in files.items():
        try:
            _check_size(folder, name, entry["bytes"])
            if sha256(folder / name) != entry["sha256"]:
                raise BergamotError(Errors.B006, path=folder / name, reason=_CHECKSUM)
        except BergamotError as error:
            found.append(str(error))
    more = [name for name in listed(folder) if name not in files]
    return found + [Errors.B112.format(path=folder / name) for name in more]


def _parsed(
    folder: Path,
    *,
    kind: str | None = None,
    version: int | None = None,
    also: tuple[int, ...] = (),
    fields: Fields | None = None,
) -> dict[str, Any]:
    """Read a manifest and check all of it but the files; None takes any kind or version."""
    path = folder / MANIFEST
    if not path.is_file():
        remedy = f"A {kind or 'checked'} folder has one; make it again, or correct the path."
        raise BergamotError(Errors.B001, path=path, remedy=remedy)
    _check_inside(folder, MANIFEST)
    try:
        manifest = json.loads(path.read_text(encoding="utf8"))
        _check_types(manifest, _HEAD)
        for name, entry in manifest["files"].items():
            _check_types(entry, {"bytes": int, "sha256": str}, where=f"files: {name[:_LONGEST]}: ")
    except (ValueError, TypeError, RecursionError) as reason:
        raise BergamotError(Errors.B002, path=path, what="a manifest", reason=reason) from None
    found, number = manifest["kind"], manifest["format_version"]
    if kind not in (None, found):
        raise BergamotError(Errors.B003, path=folder, found=found[:_LONGEST], expected=kind)
    if version is not None and number not in (version, *also):
        writer = str(manifest.get("written_by", "unknown"))[:_LONGEST]
        raise BergamotError(Errors.B004, path=folder, found=number, expected=version, writer=writer)
    # One that was written without it is taken as it is.
    if _OWN in manifest and manifest[_OWN] != _own_checksum(manifest):
        raise BergamotError(Errors.B006, path=path, reason=_CHECKSUM)
    try:
        _check_types(manifest, fields or {})
    except TypeError as reason:
        raise BergamotError(
            Errors.B002, path=path, what=f"a manifest of a {kind}", reason=reason
        ) from None
    for name in manifest["files"]:
        _check_inside(folder, name)
    return dict(manifest)


def _check_types(found: Any, types: Fields, *, where: str = "") -> None:
    """Raise TypeError unless an object has fields of these types."""
    if not isinstance(found, dict):
        raise TypeError(f"{where}it is no object")
    for name, type_ in types.items():
        if name not in found:
            raise TypeError(f"{where}'{name}' is missing")
        if type(found[name]) is not type_:
            raise TypeError(f"{where}'{name}' is no {type_.__name__}")


def _check_inside(folder: Path, name: str) -> None:
    """Raise B110 if a name is no plain relative one, or a link of this name leads out."""
    parts = PurePosixPath(name).parts
    plain = name == "/".join(parts) and ".." not in parts and not PurePosixPath(name).is_absolute()
    short = all(len(part.encode("utf8", "replace")) <= _LONGEST for part in parts)
    if not parts or not plain or not short or "\0" in name or len(name) > 16 * _LONGEST:
        raise BergamotError(Errors.B110, path=folder / MANIFEST, name=name[:_LONGEST])
    try:
        real = os.path.realpath(folder / name)
    except (OSError, ValueError) as reason:
        raise BergamotError(
            Errors.B002, path=folder / MANIFEST, what="a manifest", reason=reason
        ) from None
    if not Path(real).is_relative_to(os.path.realpath(folder)):
        raise BergamotError(Errors.B110, path=folder / MANIFEST, name=name)


def _check_size(folder: Path, name: str, expected: int) -> None:
    path = folder / name
    if not path.is_file():
        remedy = "Its manifest lists it; rebuild the folder or restore it from a backup."
        raise BergamotError(Errors.B001, path=path, remedy=remedy)
    size = path.stat().st_size
    if size != expected:
        reason = f"it has {size} bytes where its manifest says {expected}"
        raise BergamotError(Errors.B006, path=path, reason=reason)


def _own_checksum(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a manifest says beside it, in its order (hex, 64 digits)."""
    text = json.dumps({key: value for key, value in manifest.items() if key != _OWN})
    return hashlib.sha256(text.encode()).hexdigest()
