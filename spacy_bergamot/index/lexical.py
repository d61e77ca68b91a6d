"""LexicalIndex: names by the character 3-grams that they share, weighted by rarity, exactly.

Words are padded with a space on both sides and grams lie within a word, as in scikit-learn's
"char_wb" and scispaCy. A gram counts once a name. With idf(g) = 1 + ln((1 + n) / (1 + df(g))) and
|s|² = Σ idf² over the grams of s, the score of two names is Σ idf² over shared grams / (|s| |q|):
the cosine of their TF-IDF vectors.

A folder, memory-mapped: grams.npy (three code points in one uint64, sorted), and the matrix of
grams and names in compressed rows: indptr.npy and names.npy; lengths.npy has |s| (float32).
Earlier ones have instead weights.npy, idf / |s| of every gram of a name, and count.npy.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from spacy_bergamot.ragged import ranges
from spacy_bergamot.storage.files import mapped_array

_CHUNK = 200_000
_SPACE = 0x20
_LENGTHS = "lengths.npy"
_PER_GRAM_NAME = 300_000  # names for which one more occurrence is asked of a gram


class LexicalIndex:
    """Exact search by shared character 3-grams, in the files that `build` wrote.

    folder (Path): The index. base (LexicalIndex | None): As of `build`.
    """

    def __init__(self, folder: Path, *, base: "LexicalIndex | None" = None) -> None:
        self.grams, self._indptr, self._names = (
            _mapped(folder / f"{part}.npy") for part in ("grams", "indptr", "names")
        )
        earlier = (folder / "weights.npy").is_file()
        count = int(np.load(folder / "count.npy")) if earlier else len(_mapped(folder / _LENGTHS))
        self._unknown = float(_idf(np.zeros(1), count)[0])
        counts = np.diff(self._indptr)
        self.idf = _idf(counts, count) if base is None else base.idf_of(self.grams)
        self._base = base
        if earlier:  # weights are idf / |s|
            self._lengths = np.ones(count, dtype=np.float32)
            weights = _mapped(folder / "weights.npy")
            self._lengths[self._names] = np.repeat(self.idf, counts) / weights
        else:
            self._lengths = _mapped(folder / _LENGTHS)

    @staticmethod
    def build(folder: Path, names: pa.Array, *, base: "LexicalIndex | None" = None) -> None:
        """Index names in normal form; a name's id is its row.

        Grams of fewer than one name in 300,000 are left out. The index is written where it is
        mapped, 4 bytes for a gram of a name; in memory are the grams of 200,000 names at a time.

        folder (Path): The index.
        names (pa.Array): Strings.
        base (LexicalIndex | None): Index whose weights of grams are taken, so that scores of both
            compare.
        """
        folder.mkdir(parents=True, exist_ok=True)
        grams, total = _count(names)
        kept = total >= max(1, len(names) // _PER_GRAM_NAME)
        grams, total = grams[kept], total[kept]
        size = int(total.sum())
        number = np.int32 if max(size, len(names)) < 2**31 else np.int64
        indptr = np.concatenate([[0], np.cumsum(total)]).astype(number)
        idf = _idf(total, len(names)) if base is None else base.idf_of(grams)
        owned = mapped_array(folder / "names.npy", number, (size,))
        lengths = np.ones(len(names), dtype=np.float32)
        place = indptr[:-1].astype(np.int64)
        for keys, owners in _chunks(names):
            positions = np.searchsorted(grams, keys)
            known = positions < len(grams)
            known[known] = grams[positions[known]] == keys[known]
            positions, owners = positions[known], owners[known]
            if not len(owners):
                continue
            lowest = int(owners[0])
            squares = np.bincount(owners - lowest, idf[positions].astype(float) ** 2)
            has = np.flatnonzero(squares)
            lengths[lowest + has] = np.sqrt(squares[has])
            order = np.argsort(positions, kind="stable")
            positions, owners = positions[order], owners[order]
            distinct, count = np.unique(positions, return_counts=True)
            owned[ranges(place[distinct], count)] = owners
            place[distinct] += count
        owned.flush()
        np.save(folder / "grams.npy", grams)
        np.save(folder / "indptr.npy", indptr)
        np.save(folder / _LENGTHS, lengths)

    def idf_of(self, grams: np.ndarray) -> np.ndarray:
        """Return the weights of some grams, float32."""
        positions, known = self._positions(grams)
        weights = np.full(len(grams), self._unknown, dtype=np.float32)
        weights[known] = self.idf[positions[known]]
        return weights

    def norm(self, grams: np.ndarray) -> float:
        """Return the length of a name's vector; grams that no name has count as the rarest."""
        return self._norm(*self._positions(grams))

    def _norm(self, positions: np.ndarray, known: np.ndarray) -> float:
        unknown = (len(known) - int(known.sum())) * self._unknown**2
        return float(np.sqrt((self.idf[positions[known]] ** 2).sum() + unknown))

    def _positions(self, grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where grams are, and which of them are known."""
        positions = np.searchsorted(self.grams, grams)
        known = positions < len(self.grams)
        known[known] = self.grams[positions[known]] == grams[known]
        return positions, known

    def search(
        self, names: Sequence[str], k: int, *, smallest: float = 0.0
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return ids (int64) and scores (float32) of at most k names for each, best first.

        names (list[str]): In normal form. Names that share no gram are never returned, nor those
            that score less than `smallest`.
        """
        return [self._nearest(name, k, smallest) for name in names]

    def _nearest(self, name: str, k: int, smallest: float) -> tuple[np.ndarray, np.ndarray]:
        """Return ids (int64) and scores (float32) of the names that score most."""
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        for row, weight in self._rows(name):
            scores[self._names[row]] += weight
        scores /= self._lengths
        ids = np.flatnonzero((scores >= smallest) & (scores > 0))
        found = scores[ids]
        if len(ids) > k:
            best = np.greater_equal(found, np.partition(found, -k)[-k])
            ids, found = ids[best], found[best]
        order = np.lexsort((ids, -found))[:k]
        return ids[order], np.minimum(found[order], 1)

    def cosines(self, name: str, ids: np.ndarray) -> np.ndarray:
        """Return the scores, float32 (n,), of a name in normal form and some indexed names.

        ids (int64 (n,)): Their rows.
        """
        scores = np.zeros(len(ids), dtype=np.float32)
        ids = ids.astype(self._names.dtype)  # else numpy converts every row that it searches
        for row, weight in self._rows(name):
            owners = self._names[row]  # ascending
            places = np.minimum(np.searchsorted(owners, ids), len(owners) - 1)
            there = owners[places] == ids
            scores[there] += weight
        return np.minimum(scores / self._lengths[ids], 1)

    def _rows(self, name: str) -> Iterator[tuple[slice, np.float32]]:
        """Yield the row of each known gram of a name, and what it adds to a score, idf² / |q|.

        Unknown grams count in |q|.
        """
        keys = np.unique(gram_keys([name])[0])
        positions, known = self._positions(keys)
        norm = self._norm(positions, known) if self._base is None else self._base.norm(keys)
        positions = positions[known]
        weights = self.idf[positions] ** 2 / np.float32(max(norm, 1e-12))
        starts, stops = self._indptr[positions], self._indptr[positions + 1]
        yield from zip(map(slice, starts.tolist(), stops.tolist()), weights, strict=True)


def _mapped(path: Path) -> np.ndarray:
    return np.load(path, mmap_mode="r").view(np.ndarray)


def _count(names: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the grams of names, sorted, and how many names have each."""
    grams, total = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    for keys, _ in _chunks(names):
        found, count = np.unique(keys, return_counts=True)
        merged = np.union1d(grams, found)
        sums = np.zeros(len(merged), dtype=np.int64)
        sums[np.searchsorted(merged, grams)] += total
        sums[np.searchsorted(merged, found)] += count
        grams, total = merged, sums
    return grams, total


def gram_keys(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of the 3-grams of names, uint64, and the names that they are of, int32."""
    text = " ".join(["", *names, ""])
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    points = points.astype(np.uint64)
    first, middle, last = points[:-2], points[1:-1], points[2:]
    inside = middle != _SPACE  # a gram does not reach into the next name, as it lies within a word
    # Lengths, and no mark between names, tell where they end: a name may have any character.
    owners = np.repeat(np.arange(len(names), dtype=np.int32), [len(name) + 1 for name in names])
    keys = first << np.uint64(42) | middle << np.uint64(21) | last
    return keys[inside], owners[: len(keys)][inside]


def _chunks(names: pa.Array) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield distinct (gram, name) pairs of some names at a time."""
    for start in range(0, len(names), _CHUNK):
        keys, owners = gram_keys(names[start : start + _CHUNK].to_pylist())
        order = np.lexsort((keys, owners))
        keys, owners = keys[order], owners[order]
        new = np.ones(len(keys), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
        yield keys[new], owners[new] + np.int32(start)


def _idf(counts: np.ndarray, names: int) -> np.ndarray:
    return (1 + np.log((1 + names) / (1 + counts))).astype(np.float32)
