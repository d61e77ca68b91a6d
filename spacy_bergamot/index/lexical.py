"""LexicalIndex: names by the character 3-grams that they share, weighted by rarity, exactly.

Words are padded with a space on both sides and grams lie within a word, as in scikit-learn's
"char_wb" and scispaCy. A gram counts once a name. With idf(g) = 1 + ln((1 + n) / (1 + df(g))) and
|s|² = Σ idf² over the grams of s, the score of two names is Σ idf² over shared grams / (|s| |q|):
the cosine of their TF-IDF vectors.

A folder, memory-mapped: grams.npy (three code points in one uint64, sorted), and the matrix of
grams and names in compressed rows: indptr.npy, names.npy and weights.npy (float32, idf / |s|).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.storage.files import mapped_array

_CHUNK = 200_000
_SPACE = 0x20
_PER_GRAM_NAME = 300_000  # names for which one more occurrence is asked of a gram


class LexicalIndex:
    """Exact search by shared character 3-grams; open it with `LexicalIndex.open`."""

    def __init__(self, folder: Path, *, base: "LexicalIndex | None" = None) -> None:
        from scipy.sparse import csr_matrix

        # Copy on write, though nothing is written: the product takes no read-only arrays.
        parts = [
            np.load(folder / f"{part}.npy", mmap_mode="c").view(np.ndarray)
            for part in ("grams", "indptr", "names", "weights", "count")
        ]
        self.grams, indptr, names, weights, count = parts
        self._unknown = float(_idf(np.zeros(1), int(count))[0])
        self.idf = _idf(np.diff(indptr), int(count))
        self._base = base
        if base is not None:
            self.idf = base.idf_of(self.grams)
        self._matrix = csr_matrix((len(self.grams), int(count)), dtype=np.float32)
        self._matrix.indptr, self._matrix.indices, self._matrix.data = indptr, names, weights

    @classmethod
    def open(cls, folder: Path, *, base: "LexicalIndex | None" = None) -> "LexicalIndex":
        """Map an index. base (LexicalIndex | None): As of `build`."""
        return cls(folder, base=base)

    @staticmethod
    def build(folder: Path, names: pa.Array, *, base: "LexicalIndex | None" = None) -> None:
        """Index names in normal form; a name's id is its row.

        Grams of fewer than one name in 300,000 are left out. The index is written where it is
        mapped, 8 bytes for a gram of a name; in memory are the grams of 200,000 names at a time.

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
        weights = mapped_array(folder / "weights.npy", np.float32, (size,))
        place = indptr[:-1].astype(np.int64)
        for keys, owners in _chunks(names):
            positions = np.searchsorted(grams, keys)
            known = positions < len(grams)
            known[known] = grams[positions[known]] == keys[known]
            positions, owners = positions[known], owners[known]
            if not len(owners):
                continue
            lowest = int(owners[0])
            norms = np.sqrt(np.bincount(owners - lowest, idf[positions].astype(float) ** 2))
            order = np.argsort(positions, kind="stable")
            positions, owners = positions[order], owners[order]
            distinct, start, count = np.unique(positions, return_index=True, return_counts=True)
            within = np.arange(len(positions)) - np.repeat(start, count)
            target = np.repeat(place[distinct], count) + within
            owned[target] = owners
            weights[target] = idf[positions] / norms[owners - lowest]
            place[distinct] += count
        owned.flush()
        weights.flush()
        np.save(folder / "grams.npy", grams)
        np.save(folder / "indptr.npy", indptr)
        np.save(folder / "count.npy", np.array(len(names)))

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
        from sparse_dot_topn import sp_matmul_topn

        if not names:
            return []
        queries = self._queries(names)
        # sparse_dot_topn copies the numbers of both matrices: give it the rows that count alone.
        asked = np.unique(queries.indices)
        found = sp_matmul_topn(
            queries[:, asked], self._matrix[asked], top_n=k, threshold=smallest, sort=True
        )
        results = []
        for start, stop in zip(found.indptr[:-1], found.indptr[1:], strict=True):
            ids, scores = found.indices[start:stop], found.data[start:stop]
            order = np.lexsort((ids, -scores))
            results.append((ids[order].astype(np.int64), np.minimum(scores[order], 1)))
        return results

    def cosines(self, name: str, ids: np.ndarray) -> np.ndarray:
        """Return the scores, float32 (n,), of a name in normal form and some indexed names.

        ids (int64 (n,)): Their rows.
        """
        keys = np.unique(gram_keys([name])[0])
        positions, known = self._positions(keys)
        norm = self._norm(positions, known) if self._base is None else self._base.norm(keys)
        scores = np.zeros(len(ids), dtype=np.float32)
        matrix = self._matrix
        for position in positions[known]:
            row = slice(matrix.indptr[position], matrix.indptr[position + 1])
            owners = matrix.indices[row]  # ascending
            places = np.minimum(np.searchsorted(owners, ids), len(owners) - 1)
            there = owners[places] == ids
            scores[there] += self.idf[position] * matrix.data[row][places[there]]
        return np.minimum(scores / max(norm, 1e-12), 1)

    def _queries(self, names: Sequence[str]) -> Any:
        """Return the matrix of names and grams; unknown grams count in a name's norm."""
        from scipy.sparse import csr_matrix

        columns, values, indptr = [], [], [0]
        for name in names:
            keys = np.unique(gram_keys([name])[0])
            positions, known = self._positions(keys)
            norm = self._norm(positions, known) if self._base is None else self._base.norm(keys)
            positions = positions[known]
            columns.append(positions)
            values.append(self.idf[positions] / max(norm, 1e-12))
            indptr.append(indptr[-1] + len(positions))
        number = self._matrix.indices.dtype
        shape = (len(names), len(self.grams))
        parts = (np.concatenate(values), np.concatenate(columns).astype(number))
        made = csr_matrix((*parts, np.array(indptr, dtype=number)), shape=shape, dtype=np.float32)
        return made


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
