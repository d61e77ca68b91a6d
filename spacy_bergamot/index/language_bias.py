"""What the vectors of a language's names have in common, and so say nothing of a concept.

A name lies near the names of its own language whatever they mean: asked for a Spanish mention, a
language model finds the Spanish names of other concepts before the English name of the right one.
With the mean m of all n vectors and m_L of a language's, the cosine that two different names have
by chance is (n |m|² - 1) / (n - 1), and a name of the language has (m_L - m) · q more of it with a
mention q.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from spacy_bergamot.index.engines import Vectors

FILE = "languages.npy"
_BLOCK = 1 << 16
_PRIOR = 100  # names at the mean of all that every language is given: a mean of few says little


class LanguageBias:
    """Means by language, in the space that the engine searches.

    languages (tuple[str, ...]): As the concept table has them.
    mean (float32 (d,)): Of all vectors. offsets (float32 (languages + 1, d)): What the mean of each
        language has beyond it; the last row is zero, for a language that is not among them.
    chance (float): The mean cosine of two different vectors; below 1.
    """

    def __init__(self, languages: Sequence[str], means: np.ndarray, *, count: int) -> None:
        self.languages = tuple(languages)
        self.mean = means[0]
        self.offsets = np.vstack([means[1:] - means[0], np.zeros_like(means[:1])])
        # |m|² also has each vector's cosine with itself, which counts where vectors are few.
        mean = (count * float(means[0] @ means[0]) - 1) / max(1, count - 1)
        self.chance = min(max(0.0, mean), 0.99)

    @classmethod
    def open(cls, folder: Path, languages: Sequence[str], *, count: int) -> "LanguageBias":
        """Open what `save` wrote of `count` vectors.

        folder (Path): Of the index.
        languages (Sequence[str]): In the order of their codes.
        """
        return cls(languages, np.load(folder / FILE, allow_pickle=False), count=count)

    @staticmethod
    def save(
        folder: Path, vectors: Vectors, owners: np.ndarray, codes: np.ndarray, *, languages: int
    ) -> None:
        """Save the mean of unit vectors (n, d) and of those of every language.

        folder (Path): Of the index.
        owners (int (p,)), codes (int (p,)): Vectors and the languages of their names, from 0 to
            `languages` - 1; each pair once, sorted by vector.
        """
        from scipy.sparse import csr_matrix

        count, dim = vectors.shape
        sums = np.zeros((1 + languages, dim))
        for start in range(0, count, _BLOCK):
            block = np.asarray(vectors[slice(start, start + _BLOCK)], dtype=np.float32)
            first, last = np.searchsorted(owners, [start, start + len(block)])
            places = (codes[first:last], owners[first:last] - start)
            ones = np.ones(last - first, dtype=np.float32)
            sums[1:] += csr_matrix((ones, places), shape=(languages, len(block))) @ block
            sums[0] += block.sum(0, dtype=np.float64)
        mean = sums[0] / count
        names = np.bincount(codes, minlength=languages)[:, None]
        means = np.vstack([mean, (sums[1:] + _PRIOR * mean) / (names + _PRIOR)])
        np.save(folder / FILE, means.astype(np.float32))

    def codes(self, languages: Sequence[str]) -> np.ndarray:
        """Return the rows of `offsets` of some languages, int64."""
        known = {language: row for row, language in enumerate(self.languages)}
        return np.array([known.get(language, len(known)) for language in languages], dtype=np.int64)
