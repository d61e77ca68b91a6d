"""The engine of an index that is larger than memory: FAISS's lists of codes of one bit a number.

A folder with index.faiss, the lists, mapped, and vectors.npy, float16 (n, d), mapped, of which a
search reads those few that the codes say are near.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import importing
from spacy_bergamot.index.engines import common
from spacy_bergamot.index.engines.common import Engine, Vectors
from spacy_bergamot.storage.files import atomic_file, mapped_array
from spacy_bergamot.storage.preflight import cores

_PART = 1 << 20  # vectors whose codes are kept together: what a build that is killed loses
_SAMPLE = 39  # vectors a list that its centre is learned from: faiss advises no fewer
_ROUNDS = 10
_REFINED = 4  # vectors that are compared exactly for each that is asked for
_RATE = 1 / 35e9  # seconds a product of two numbers and core; docs/scale.md


class FaissEngine(Engine):
    """Inverted lists (Jegou and others 2011) of RaBitQ codes (Gao and Long 2024), refined.

    The vectors are shared out over `nlist` lists, by the nearest of as many centres. A search looks
    at the `nprobe` lists whose centres are nearest, takes the best by their codes, and compares the
    vectors of these with the query.
    """

    name = "faiss"
    in_parts = True

    def __init__(self, index: Any, saved: np.ndarray, *, refined: int) -> None:
        super().__init__(count=saved.shape[0], dim=saved.shape[1])
        self.index = index
        self.saved = saved
        self.refined = refined

    @classmethod
    def require(cls, settings: Mapping[str, Any]) -> None:
        """B109 without faiss, B037 for numbers that are too small; see `Engine.require`."""
        import_faiss()
        super().require(settings)
        for name, least in (("nlist", 0), ("nprobe", 1), ("threads", 0)):
            common.require_at_least(name, settings.get(name, least), least)

    @classmethod
    def build(
        cls,
        folder: Path,
        vectors: Vectors,
        *,
        nlist: int = 0,
        nprobe: int = 384,
        threads: int = 0,
        parts: Path | None = None,
        progress: bool = False,
    ) -> None:
        """Build the lists of unit vectors, float32 (n, d), and save them and the vectors.

        folder (Path): Where it is saved. progress (bool): Show a bar.
        nlist (int): Lists; 0 for about four times the square root of the number of vectors.
        nprobe (int): Lists that a search looks at. The default finds as much as nmslib's does.
        threads (int): 0 for one per core, or one where vectors are few.
        parts (Path | None): See `Engine.in_parts`: centres and codes that are there are taken.
        RAISES (BergamotError): As `require`; B201 for no vectors.
        """
        from tqdm import tqdm

        cls.require({"nlist": nlist, "nprobe": nprobe, "threads": threads})
        count, dim = common.shape_of(vectors)
        nlist, threads = min(nlist or lists_of(count), count), common.build_threads(count, threads)
        lists = count * (dim // 8 + 16) + 4 * nlist * dim
        size = count * 2 * dim + lists * (1 if parts else 2)
        work = nlist * dim * (min(count, _SAMPLE * nlist) * _ROUNDS + count)
        seconds = _RATE * work / min(threads, cores())
        common.announce_build(folder, count, size=size, memory=2 * lists, seconds=seconds)
        folder.mkdir(parents=True, exist_ok=True)
        saved = mapped_array(folder / "vectors.npy", np.float16, (count, dim))
        for rows in common.blocks(vectors):
            saved[rows] = vectors[rows]
        saved.flush()
        with common.parts_folder(folder, parts) as work_folder, _threads(threads):
            kept = work_folder / f"faiss-{nlist}"
            empty = kept / "trained.faiss"
            if not empty.exists():
                _write(_trained(saved, nlist), empty)
            whole = _read(empty)
            with tqdm(total=count, unit=" names", desc="Indexing", disable=not progress) as bar:
                for start in range(0, count, _PART):
                    end = min(start + _PART, count)
                    part = kept / f"part-{start // _PART:05d}.faiss"
                    if not part.exists():
                        _write(_coded(_read(empty), saved, start, end), part)
                    whole.merge_from(_read(part), 0)
                    bar.update(end - start)
        whole.nprobe = nprobe
        import_faiss().write_index(whole, str(folder / "index.faiss"))
        common.write_facts(folder, (count, dim), nlist=nlist, nprobe=nprobe)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "FaissEngine":
        """Map lists and vectors.

        folder (Path): Of `build`.
        ef_search (int): Vectors that are compared exactly, at least.
        """
        faiss = import_faiss()
        count, dim, _ = common.read_facts(folder)
        with common.readable(folder / "index.faiss", "lists of faiss") as path:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
            if (index.ntotal, index.d) != (count, dim) or index.nprobe < 1:
                raise ValueError(f"they do not hold {count} vectors of width {dim}")
            # Threads that read ahead: a search in a fork would wait for those of its parent.
            faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
        with common.readable(folder / "vectors.npy", "an array of vectors") as path:
            saved = np.load(path, mmap_mode="r").view(np.ndarray)
            if (saved.shape, saved.dtype) != ((count, dim), np.float16):
                raise ValueError(f"it does not hold {count} vectors of width {dim}")
        return cls(index, saved, refined=ef_search)

    def _nearest(self, vectors: np.ndarray, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        asked = np.ascontiguousarray(vectors, dtype=np.float32)
        with _threads(1):
            _, near = self.index.search(asked, min(max(self.refined, _REFINED * k), self.count))
        for query, found in zip(asked, near, strict=True):
            rows = np.sort(found[found >= 0])  # as they stand in the file
            yield common.best_of(rows, self.vectors(rows) @ query, k)

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        found = self.saved[rows].astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def lists_of(count: int) -> int:
    """Return how many lists so many vectors are shared out over: a power of two.

    count (int): Vectors.
    """
    return 1 << round(math.log2(4 * math.sqrt(count)))


def _trained(saved: np.ndarray, nlist: int) -> Any:
    """Return lists without vectors, their centres learned from vectors at equal distances."""
    faiss = import_faiss()
    dim = saved.shape[1]
    # Of unit vectors the nearest by distance is the nearest by cosine, and k-means is right.
    metric, bits = faiss.METRIC_L2, 1
    index = faiss.IndexIVFRaBitQ(faiss.IndexFlatL2(dim), dim, nlist, metric, True, bits)
    index.cp.niter = _ROUNDS
    index.cp.min_points_per_centroid = 1  # fewer are no reason for a warning: all lists are probed
    sample = saved[:: max(1, len(saved) // (_SAMPLE * nlist))]
    index.train(sample.astype(np.float32))
    return index


def _coded(index: Any, saved: np.ndarray, start: int, end: int) -> Any:
    """Return lists with the codes of some rows."""
    for rows in common.blocks(saved[start:end]):
        block = saved[start:end][rows].astype(np.float32)
        index.add_with_ids(block, np.arange(start + rows.start, start + rows.stop))
    return index


def _write(index: Any, path: Path) -> None:
    with atomic_file(path) as temporary:
        import_faiss().write_index(index, str(temporary))


def _read(path: Path) -> Any:
    with common.readable(path, "a part of faiss's lists"):
        return import_faiss().read_index(str(path))


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let faiss use so many threads: a process that it had threads in does not outlive a fork."""
    faiss = import_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def import_faiss() -> Any:
    """Return the module `faiss`. RAISES (BergamotError): B109 if it is missing."""
    with importing("The engine 'faiss'", packages="faiss-cpu"):
        import faiss
    return faiss
