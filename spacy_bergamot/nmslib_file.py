"""What nmslib does not say: which build is installed, and the vectors in the file of its graph.

A graph of unit vectors that was saved without its data (nmslib 2, `Hnsw::SaveOptimizedIndex`) is a
header of 68 bytes, then one record per vector, all of one size: its number and its label (int32),
the bytes of the vector (uint64), the vector (float32), its links.
"""

import contextlib
import importlib.metadata
from pathlib import Path

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors

_HEADER = 68
_FACTS = np.dtype([("optimised", "<u4"), ("count", "<u4"), ("record", "<u8")])
_BEFORE = 16
"""Bytes of a record before its vector."""
_CHECKED = 1000


def nmslib_build() -> str:
    """Name the installed build of nmslib, and the faster one where there is one."""
    found = {}
    for name in ("nmslib", "nmslib-metabrainz"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    if "nmslib" in found and "nmslib-metabrainz" not in found:
        return (
            f"nmslib {found['nmslib']}; its wheels use no AVX, nmslib-metabrainz builds faster: "
            "pip uninstall nmslib, then pip install nmslib-metabrainz"
        )
    return " and ".join(f"{name} {version}" for name, version in found.items()) or "nmslib"


def map_records(path: Path, *, count: int, dim: int) -> np.ndarray:
    """Map the records of a graph: fields `number` (int32) and `vector` (float32 (dim,)).

    RAISES (BergamotError): B002 if the file is not of `count` vectors of width `dim`, in order.
    """
    size = path.stat().st_size
    facts = np.fromfile(path, dtype=_FACTS, count=1)
    record = int(facts["record"][0]) if len(facts) else 0
    known = len(facts) and facts["optimised"][0] == 1 and facts["count"][0] == count
    if not known or record < _BEFORE + 4 * dim or size < _HEADER + count * record:
        raise _not_readable(path, f"it does not hold {count} vectors of width {dim}")
    fields = [("number", "<i4", 0), ("bytes", "<u8", 8), ("vector", (np.float32, (dim,)), 16)]
    names, formats, offsets = (list(column) for column in zip(*fields, strict=True))
    layout = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": record})
    records = np.memmap(path, dtype=layout, mode="r", offset=_HEADER, shape=(count,))
    # The layout is nmslib's own business: that it is this one is looked at, not trusted.
    rows = np.unique(np.linspace(0, count - 1, min(count, _CHECKED)).astype(np.int64))
    if (records["number"][rows] != rows).any() or (records["bytes"][rows] != 4 * dim).any():
        raise _not_readable(path, "its records are laid out otherwise; build it with nmslib 2.1")
    return records


def _not_readable(path: Path, reason: str) -> BergamotError:
    return BergamotError(Errors.B002.format(path=path, what="an nmslib index", reason=reason))
