"""What engines have in common: the checks of a search, and the facts beside what was saved."""

import inspect
import json
import math
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors, check_choice
from spacy_bergamot.storage.preflight import announce, cores

_FACTS = "engine.json"
_BUILD_BLOCK = 1 << 16
_FEW = 10_000  # vectors that one thread links in seconds
_HNSW_RATE = 3.2e-10  # seconds per core; docs/scale.md
_NO_SETTINGS = ("folder", "vectors", "progress", "parts")


class Vectors(Protocol):
    """Unit vectors that a build reads block by block: an array, or a `VectorStore`."""

    shape: Any

    def __getitem__(self, rows: Any, /) -> np.ndarray: ...


class Engine(ABC):
    """A search engine over unit vectors: what an alias index searches with.

    A subclass has besides, as class methods:

    - `build(folder, vectors, *, progress, **settings)`, which saves unit vectors, float32 (n, d),
      so that they can be searched. B201 for no vectors at all.
    - `open(folder, *, ef_search)`, which returns an engine. ef_search (int): Vectors that are
      compared with a query, at least; an engine that compares all takes no notice of it.

    count (int), dim (int): Number and width of the vectors.
    """

    name: ClassVar[str]
    in_parts: ClassVar[bool] = False
    """Whether `build` takes `parts` (Path | None), a folder for what is made on the way: a later
    build of the same vectors with the same folder goes on with what is there."""

    def __init__(self, *, count: int, dim: int) -> None:
        self.count = count
        self.dim = dim

    @classmethod
    def require(cls, settings: Mapping[str, Any]) -> None:
        """Raise unless `build` takes these settings and the engine's package is installed.

        RAISES (BergamotError): B014 for a setting that it has not.
        """
        known = [name for name in inspect.signature(cls.build).parameters  # type: ignore[attr-defined]
                 if name not in _NO_SETTINGS]  # fmt: skip
        for name in settings:
            check_choice(f"setting of the engine '{cls.name}'", name, known)

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (int64) and cosines (float32), both (n, k), best first; -1 fills up.

        vectors (np.ndarray): Unit vectors, float32 (n, d).
        RAISES (BergamotError): B021 unless they are finite, of the index's width and not zero.
        """
        check_queries(vectors, self.dim)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        scores = np.full((len(vectors), k), -1, dtype=np.float32)
        if len(vectors):
            found = self._nearest(vectors, min(k, self.count))
            for number, (ids, cosines) in enumerate(found):
                rows[number, : len(ids)] = ids
                scores[number, : len(ids)] = cosines
        return rows, scores

    @abstractmethod
    def _nearest(self, vectors: np.ndarray, k: int) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Return rows and cosines for every query, best first; at most k, which are there."""

    @abstractmethod
    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the unit vectors of some rows, float32 (n, d)."""


def require_at_least(name: str, value: int, least: int) -> None:
    """Raise B037 unless a setting is as large as it has to be.

    name (str), value (int): The setting. least (int): What it has to be.
    """
    if value < least:
        raise BergamotError(Errors.B037, setting=name, value=value, rule=f"at least {least}")


def check_queries(vectors: np.ndarray, dim: int) -> None:
    """Raise B021 unless vectors are finite, of the index's width and not zero.

    vectors (np.ndarray): Queries, (n, d). dim (int): Width of the index.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dim:
        raise BergamotError(Errors.B021, what=f"shape {vectors.shape}", dim=dim)
    norms = np.einsum("nd,nd->n", vectors, vectors)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise BergamotError(Errors.B021, what="a zero or NaN vector", dim=dim)


def best_of(rows: np.ndarray, cosines: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k best of a query's rows and cosines; of equal ones, the lower row first."""
    order = np.lexsort([rows, -cosines])[:k]
    return rows[order], cosines[order]


def shape_of(vectors: Vectors) -> tuple[int, int]:
    """Return number and width of vectors. RAISES (BergamotError): B201 if there is none."""
    count, dim = vectors.shape
    if not count:
        raise BergamotError(Errors.B201)
    return count, dim


def build_threads(count: int, threads: int) -> int:
    """Return how many threads build a graph: for 0 one per core, or one where vectors are few.

    count (int): Vectors. threads (int): What is asked for.
    """
    return threads or (cores() if count > _FEW else 1)


def build_seconds(count: int, dim: int, m: int, ef_construction: int, threads: int) -> float:
    """Estimate the time of a build: links sought by every vector grow with log n.

    count, dim (int): Vectors and their width.
    m, ef_construction (int): As of `NmslibEngine.build`. threads (int): Of the build.
    RETURNS (float): Seconds.
    """
    work = count * math.log2(count + 2) * dim * ef_construction * m**0.3
    return _HNSW_RATE * work / min(threads or cores(), cores())


def announce_build(
    folder: Path, count: int, *, size: int, seconds: float, memory: int | None = None
) -> None:
    """Say what building an index takes.

    folder (Path): Where it is saved. count (int): Vectors. seconds (float): That it takes, about.
    size, memory (int): Bytes of its files, and of memory; None for as many.
    size (int): Of its files, and of it in memory.
    """
    memory = size if memory is None else memory
    step = f"Building the index of {count} vectors"
    announce(step, memory=memory, disk=size, folder=folder, seconds=seconds)


def blocks(vectors: Vectors) -> Iterator[slice]:
    """Yield the rows of vectors in blocks."""
    count = vectors.shape[0]
    for start in range(0, count, _BUILD_BLOCK):
        yield slice(start, min(start + _BUILD_BLOCK, count))


def write_facts(folder: Path, shape: tuple[int, ...], **settings: Any) -> None:
    """Write number and width of vectors, and what an engine was built with.

    folder (Path): Of the engine. shape (tuple): Of the vectors. settings: Of the build.
    """
    facts = {"count": shape[0], "dim": shape[1], **settings}
    (folder / _FACTS).write_text(json.dumps(facts) + "\n", encoding="utf8")


def read_facts(folder: Path) -> tuple[int, int, dict[str, Any]]:
    """Return number and width of vectors, and the settings.

    folder (Path): Of the engine.
    RAISES (BergamotError): B002 if they are unreadable.
    """
    with readable(folder / _FACTS, "an engine's facts") as path:
        facts = json.loads(path.read_text(encoding="utf8"))
        return int(facts.pop("count")), int(facts.pop("dim")), facts


@contextmanager
def parts_folder(folder: Path, parts: Path | None) -> Iterator[Path]:
    """Yield a folder for what a build makes on the way, which goes at the end unless it is given.

    folder (Path): Where the engine is built. parts (Path | None): See `Engine.in_parts`.
    """
    own = folder / "parts.tmp"
    try:
        yield parts or own
    finally:
        shutil.rmtree(own, ignore_errors=True)


@contextmanager
def readable(path: Path, what: str) -> Iterator[Path]:
    """Yield a path; raise B002 with it if the block cannot read what is there.

    what (str): That it should be, with its article.
    """
    try:
        yield path
    except BergamotError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as reason:
        raise BergamotError(Errors.B002, path=path, what=what, reason=reason) from None
