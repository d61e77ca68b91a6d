"""LexicalIndex: names by the character 3-grams that they share, weighted by rarity, exactly.

Words are padded with a space on both sides and grams lie within a word, as in scikit-learn's
"char_wb" and scispaCy. A gram counts once a name. With idf(g) = 1 + ln((1 + n) / (1 + df(g))) and
|s|² = Σ idf² over the grams of s, the score of two names is Σ idf² over shared grams / (|s| |q|):
the cosine of their TF-IDF vectors.

A folder: grams.npy (three code points in one uint64, sorted), indptr.npy and rows.npy (int32, the
names of a gram, ascending), norms.npy (float32 |s|), memory-mapped.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

logger = logging.getLogger(__name__)

_CHUNK = 200_000
_SPACE, _END = 0x20, 0
_PER_GRAM_NAME = 300_000  # names for which one more occurrence is asked of a gram
_FIRST = 0.7  # score below which names may be unseen in the first attempt
_SPARE = 64
_ROUNDING = 1 - 1e-6  # of scores that are summed in another order


class _Found:
    """Names with a partial score, and the grams that are not in it yet.

    ids (int32 (n,)). bounds (float (n,)): What each can reach at most, times the query's norm.
    lists, weights: Of those grams.
    """

    def __init__(self, ids: np.ndarray, lists: list[np.ndarray], weights: np.ndarray) -> None:
        self.ids = ids
        self.lists = lists
        self.weights = weights
        self.bounds = np.empty(0)


class LexicalIndex:
    """Search by shared character 3-grams; open it with `LexicalIndex.open`.

    The search is exact: grams are taken from the rarest on until no name without them can reach
    the names found (MaxScore, Turtle and Flood 1995).
    """

    def __init__(self, folder: Path) -> None:
        def mapped(name: str) -> np.ndarray:  # a plain view: slices of np.memmap are slow
            return np.load(folder / name, mmap_mode="r").view(np.ndarray)

        self.grams, self.indptr = mapped("grams.npy"), mapped("indptr.npy")
        self.rows, self.norms = mapped("rows.npy"), mapped("norms.npy")
        self.weights = _squared_idf(np.diff(self.indptr), len(self.norms))
        self._scores = np.zeros(len(self.norms), dtype=np.float32)

    @classmethod
    def open(cls, folder: Path) -> "LexicalIndex":
        return cls(folder)

    @staticmethod
    def build(folder: Path, names: pa.Array) -> None:
        """Index names in normal form; a name's id is its row.

        Grams of fewer than one name in 300,000 are left out. Memory: about 10 bytes a gram and
        name, of which the index keeps 4.
        """
        folder.mkdir(parents=True, exist_ok=True)
        grams = np.empty(0, dtype=np.uint64)
        total = np.empty(0, dtype=np.int64)
        for keys, _ in _chunks(names):
            found, count = np.unique(keys, return_counts=True)
            merged = np.union1d(grams, found)
            sums = np.zeros(len(merged), dtype=np.int64)
            sums[np.searchsorted(merged, grams)] += total
            sums[np.searchsorted(merged, found)] += count
            grams, total = merged, sums
        kept = total >= max(1, len(names) // _PER_GRAM_NAME)
        grams, total = grams[kept], total[kept]
        indptr = np.concatenate([[0], np.cumsum(total)]).astype(np.int64)
        weights = _squared_idf(total, len(names))
        shape = (int(indptr[-1]),)
        rows = np.lib.format.open_memmap(
            folder / "rows.npy", mode="w+", dtype=np.int32, shape=shape
        )
        norms = np.zeros(len(names), dtype=np.float64)
        place = indptr[:-1].copy()
        for keys, owners in _chunks(names):
            positions = np.searchsorted(grams, keys)
            known = positions < len(grams)
            known[known] = grams[positions[known]] == keys[known]
            positions, owners = positions[known], owners[known]
            order = np.argsort(positions, kind="stable")
            positions, owners = positions[order], owners[order]
            distinct, start, count = np.unique(positions, return_index=True, return_counts=True)
            within = np.arange(len(positions)) - np.repeat(start, count)
            rows[np.repeat(place[distinct], count) + within] = owners
            place[distinct] += count
            np.add.at(norms, owners, weights[positions])
        rows.flush()
        np.save(folder / "grams.npy", grams)
        np.save(folder / "indptr.npy", indptr)
        np.save(folder / "norms.npy", np.sqrt(norms).astype(np.float32))

    def search(self, name: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ids (int64) and scores (float32) of at most k names, best first, ties by id.

        name (str): In normal form. Names that share no gram are never returned.
        """
        grams, norm = self._grams_of(name)
        if not len(grams):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        sizes = self.indptr[grams + 1] - self.indptr[grams]
        grams = grams[np.argsort(sizes, kind="stable")]
        lists = [self.rows[self.indptr[gram] : self.indptr[gram + 1]] for gram in grams]
        weights = self.weights[grams]
        rest = np.append(np.cumsum(weights[::-1])[::-1], 0)  # of the grams from here on
        unseen = np.sqrt(np.maximum(rest, 0)) / norm  # no name without the grams before scores more
        seen: list[np.ndarray] = []
        done, taken = 0, int(np.argmax(unseen <= _FIRST)) or len(grams)
        lowest = 0.0
        try:
            while True:
                for rows, weight in zip(lists[done:taken], weights[done:taken], strict=True):
                    before = self._scores[rows]
                    seen.append(rows[before == 0])
                    self._scores[rows] = before + weight
                found = _Found(np.concatenate(seen), lists[taken:], weights[taken:])
                found.bounds = (self._scores[found.ids] + rest[taken]) / self.norms[found.ids]
                lowest = self._reach(found, k, norm)
                sure = unseen[taken] < lowest
                if taken == len(grams) or (sure and self._few(found, lowest * norm, k)):
                    return self._best(found, lowest * norm, norm, k)
                done = taken
                later = int(np.argmax(unseen < lowest)) if lowest else len(grams)
                taken = min(len(grams), max(taken + 2, later))
        finally:
            for rows in seen:
                self._scores[rows] = 0

    def _reach(self, found: "_Found", k: int, norm: float) -> float:
        """Return the k-th score of the most promising names, which the best k reach at least."""
        if len(found.ids) < k:
            return 0.0
        chosen = np.arange(len(found.ids))
        if len(chosen) > k + _SPARE:
            chosen = np.argpartition(-found.bounds, k + _SPARE)[: k + _SPARE]
        exact = self._exact(found, chosen)
        return float(np.partition(exact, -k)[-k]) / norm * _ROUNDING

    @staticmethod
    def _few(found: "_Found", lowest: float, k: int) -> bool:
        """Tell whether few names can be among the best, so that scoring them costs little."""
        return int((found.bounds >= lowest).sum()) <= 8 * (k + _SPARE)

    def _best(
        self, found: "_Found", lowest: float, norm: float, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return ids and scores of the best k of the names whose bound is at least `lowest`."""
        chosen = np.flatnonzero(found.bounds >= lowest)
        ids, exact = found.ids[chosen], self._exact(found, chosen) / norm
        order = np.lexsort((ids, -exact))[:k]
        return ids[order].astype(np.int64), np.minimum(exact[order], 1).astype(np.float32)

    def _exact(self, found: "_Found", chosen: np.ndarray) -> np.ndarray:
        """Return the scores, times the query's norm, of some of the names found."""
        ids = found.ids[chosen]
        exact = self._scores[ids].astype(np.float64)
        for rows, weight in zip(found.lists, found.weights, strict=True):
            places = np.searchsorted(rows, ids)
            places[places == len(rows)] = 0
            exact += weight * (rows[places] == ids)
        return exact / self.norms[ids]

    def _grams_of(self, name: str) -> tuple[np.ndarray, float]:
        """Return the positions of a name's grams, and its norm (unknown grams count in it)."""
        keys = np.unique(gram_keys([name])[0])
        positions = np.searchsorted(self.grams, keys)
        known = positions < len(self.grams)
        known[known] = self.grams[positions[known]] == keys[known]
        unknown = (len(keys) - int(known.sum())) * float(
            _squared_idf(np.zeros(1), len(self.norms))[0]
        )
        positions = positions[known]
        return positions, float(np.sqrt(self.weights[positions].sum() + unknown))


def gram_keys(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of the 3-grams of names, uint64, and the names that they are of, int32."""
    text = "\0".join(f" {name} " for name in names) + "\0"
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    points = points.astype(np.uint64)
    first, middle, last = points[:-2], points[1:-1], points[2:]
    inside = (middle != _SPACE) & (first != _END) & (middle != _END) & (last != _END)
    owners = np.cumsum(points == _END, dtype=np.int32)[:-2]
    keys = first << np.uint64(42) | middle << np.uint64(21) | last
    return keys[inside], owners[inside]


def _chunks(names: pa.Array) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield distinct (gram, name) pairs of some names at a time."""
    for start in range(0, len(names), _CHUNK):
        keys, owners = gram_keys(names[start : start + _CHUNK].to_pylist())
        order = np.lexsort((keys, owners))
        keys, owners = keys[order], owners[order]
        new = np.ones(len(keys), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
        yield keys[new], owners[new] + np.int32(start)


def _squared_idf(counts: np.ndarray, names: int) -> np.ndarray:
    return ((1 + np.log((1 + names) / (1 + counts))) ** 2).astype(np.float32)
