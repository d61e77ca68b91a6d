"""What nmslib does not say: which build is installed, and the vectors in the file of its graph.

A graph of unit vectors that was saved without its data (nmslib 2, `Hnsw::SaveOptimizedIndex`) is a
header of 68 bytes, then one record per vector, all of one size: its number and its label (int32),
the bytes of the vector (uint64), the vector (float32), how many links it has and room for the most
(int32). Then, for every vector, the bytes of its links in higher levels (uint32) and, for each of
these levels, as many links and room (int32).
"""

import contextlib
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors

_STDERR = 2
_HEADER = 68
_FACTS = np.dtype(
    [
        ("optimised", "<u4"), ("count", "<u4"), ("record", "<u8"), ("links_at", "<u8"),
        ("data_at", "<u8"), ("levels", "<i4"), ("entry", "<i4"), ("most", "<u8"),
        ("most_below", "<u8"), ("distance", "<i4"), ("method", "<u8"),
    ]
)  # fmt: skip
_BEFORE = 16
"""Bytes of a record before its vector."""
_CHECKED = 1000
_BLOCK = 1 << 14


def new_index() -> Any:
    """Return an empty graph. RAISES (BergamotError): B022 if nmslib cannot be imported."""
    return import_nmslib().init(method="hnsw", space="cosinesimil")


def import_nmslib() -> Any:
    """Import nmslib without what it says of the CPU: `nmslib_build` says it where it counts.

    Its C++ code writes straight to the handle of standard error, at every import.

    RAISES (BergamotError): B022 if it cannot be imported.
    """
    if "nmslib" in sys.modules:
        return sys.modules["nmslib"]
    try:
        with _silent_stderr():
            return importlib.import_module("nmslib")
    except ImportError as reason:
        raise BergamotError(Errors.B022, reason=reason) from reason


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

    path (Path): Of the graph. count, dim (int): Vectors and their width.
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


def check_graph(path: Path, *, count: int, dim: int) -> None:
    """Check the header and every link of a graph: nmslib follows them wherever they lead.

    path (Path): Of the graph. count, dim (int): Vectors and their width.
    RAISES (BergamotError): B002 if there is one that leads nowhere.
    """
    records = map_records(path, count=count, dim=dim)
    facts = np.fromfile(path, dtype=_FACTS, count=1)[0]
    record, most = int(facts["record"]), int(facts["most_below"])
    room = (record - int(facts["links_at"])) // 4
    if (
        facts["data_at"] != 0
        or facts["links_at"] != _BEFORE + 4 * dim
        or not 0 <= facts["entry"] < count
        or not 1 <= most < room + 1
        or most + 1 > room
        or not 1 <= facts["most"] <= most
    ):
        raise _not_readable(path, "its header is none of a graph of these vectors")
    end = _HEADER + count * record
    shape = (count, record // 4)
    words = np.asarray(np.memmap(path, dtype="<i4", mode="r", offset=_HEADER, shape=shape))
    for start in range(0, count, _BLOCK):
        rows = slice(start, start + _BLOCK)
        numbers = records["number"][rows]
        links = words[rows, _BEFORE // 4 + dim :][:, : most + 1]
        if (
            (numbers != np.arange(start, start + len(numbers))).any()
            or (records["bytes"][rows] != 4 * dim).any()
            or not _lead_somewhere(links, count)
        ):
            raise _not_readable(path, "a record of it has another number or wrong links")
    higher = np.asarray(np.memmap(path, dtype="<i4", mode="r", offset=end))
    if not _higher_levels(higher, count, most=int(facts["most"]), levels=int(facts["levels"])):
        raise _not_readable(path, "its higher levels have wrong links")


def _lead_somewhere(links: np.ndarray, count: int) -> bool:
    """Return whether rows of a number of links and then links are right for so many vectors."""
    numbers = links[:, :1]
    used = np.arange(links.shape[1] - 1) < numbers
    wrong = (links[:, 1:] < 0) | (links[:, 1:] >= count)
    return not ((numbers < 0).any() or (numbers >= links.shape[1]).any() or (used & wrong).any())


def _higher_levels(words: np.ndarray, count: int, *, most: int, levels: int) -> bool:
    """Return whether the levels above the lowest are right; most vectors have none of them."""
    width, place, seen, heights, rows = most + 1, 0, 0, [0], [words[:0]]
    some = np.flatnonzero(words)
    while True:
        number = some.searchsorted(place)
        nothing = (int(some[number]) if number < len(some) else len(words)) - place
        seen, place = seen + nothing, place + nothing
        if place == len(words):
            break
        height, rest = divmod(int(words[place]), 4 * width)
        end = place + 1 + height * width
        if height < 1 or rest or end > len(words):
            return False
        heights.append(height)
        rows.append(words[place + 1 : end])
        seen, place = seen + 1, end
    links = np.concatenate(rows).reshape(-1, width)
    return seen == count and max(heights) == levels and _lead_somewhere(links, count)


def _not_readable(path: Path, reason: str) -> BergamotError:
    return BergamotError(Errors.B002, path=path, what="an nmslib index", reason=reason)
