"""What engines have in common: how vectors come, and the facts beside what was saved."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.preflight import cores

_FACTS = "engine.json"
_BUILD_BLOCK = 1 << 16
_FEW = 10_000  # vectors that one thread links in seconds
_HNSW_RATE = 3.2e-10  # seconds a core; docs/scale.md


class Vectors(Protocol):
    """Unit vectors that a build reads block by block: an array, or a `VectorStore`."""

    shape: Any

    def __getitem__(self, rows: Any, /) -> np.ndarray: ...


def check_queries(vectors: np.ndarray, dim: int) -> None:
    """Raise B021 unless vectors are finite, of the index's width and not zero."""
    if vectors.ndim != 2 or vectors.shape[1] != dim:
        raise BergamotError(Errors.B021, what=f"shape {vectors.shape}", dim=dim)
    norms = np.einsum("nd,nd->n", vectors, vectors)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise BergamotError(Errors.B021, what="a zero or NaN vector", dim=dim)


def build_threads(count: int, threads: int) -> int:
    """Return how many threads build a graph: 0 is for one a core, or one where vectors are few."""
    return threads or (cores() if count > _FEW else 1)


def build_seconds(count: int, dim: int, m: int, ef_construction: int, threads: int) -> float:
    """Estimate the time of a build: links sought by every vector grow with log n."""
    work = count * math.log2(count + 2) * dim * ef_construction * m**0.3
    return _HNSW_RATE * work / min(threads or cores(), cores())


def blocks(vectors: Vectors) -> Iterator[slice]:
    """Yield the rows of vectors in blocks."""
    count = vectors.shape[0]
    for start in range(0, count, _BUILD_BLOCK):
        yield slice(start, min(start + _BUILD_BLOCK, count))


def write_facts(folder: Path, shape: tuple[int, ...], **settings: Any) -> None:
    """Write number and width of vectors, and what an engine was built with."""
    facts = {"count": shape[0], "dim": shape[1], **settings}
    (folder / _FACTS).write_text(json.dumps(facts) + "\n", encoding="utf8")


def read_facts(folder: Path) -> tuple[int, int]:
    """Return number and width of vectors. RAISES (BergamotError): B002 if they are unreadable."""
    facts = read_settings(folder)
    try:
        return int(facts["count"]), int(facts["dim"])
    except (KeyError, TypeError, ValueError) as reason:
        raise _unreadable(folder, reason) from None


def read_settings(folder: Path) -> dict[str, Any]:
    """Return all that `write_facts` wrote. RAISES (BergamotError): As `read_facts`."""
    try:
        return dict(json.loads((folder / _FACTS).read_text(encoding="utf8")))
    except (OSError, ValueError, TypeError, RecursionError) as reason:
        raise _unreadable(folder, reason) from None


def _unreadable(folder: Path, reason: Exception) -> BergamotError:
    return BergamotError(Errors.B002, path=folder / _FACTS, what="an engine's facts", reason=reason)
