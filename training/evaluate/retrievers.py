"""Retrievers: mentions in, ranked rows of a dictionary out.

`search(mentions, k)` returns int64 (len(mentions), k): rows of the dictionary by falling score,
ties by row, -1 where nothing more is found.
"""

import logging
from pathlib import Path
from typing import Protocol

import numpy as np

from spacy_bergamot.distinct import Groups
from spacy_bergamot.text import normalize
from spacy_bergamot.text_encoder import TextEncoder
from training.evaluate.dictionary import Dictionary

_BLOCK = 64

logger = logging.getLogger(__name__)


class Retriever(Protocol):
    """What is evaluated."""

    name: str

    def search(self, mentions: list[str], k: int) -> np.ndarray:
        """Return ranked dictionary rows (len(mentions), k)."""
        ...


class ExactRetriever:
    """A mention's own normal form, or nothing."""

    name = "exact"

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary

    def search(self, mentions: list[str], k: int) -> np.ndarray:
        rows = np.full((len(mentions), k), -1, dtype=np.int64)
        rows[:, 0] = [self.dictionary.rows.get(normalize(mention), -1) for mention in mentions]
        return rows


class TfidfRetriever:
    """Cosine of TF-IDF vectors of character 3-grams within words, as scispaCy and xMEN."""

    name = "tf-idf"

    def __init__(self, dictionary: Dictionary) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32, lowercase=False
        )
        self.matrix = self.vectorizer.fit_transform(dictionary.names).T.tocsr()

    def search(self, mentions: list[str], k: int) -> np.ndarray:
        queries = self.vectorizer.transform([normalize(mention) for mention in mentions])
        blocks = [
            top_rows((queries[start : start + _BLOCK] @ self.matrix).toarray(), k, above=0.0)
            for start in range(0, queries.shape[0], _BLOCK)
        ]
        return np.concatenate(blocks)


class DenseRetriever:
    """Cosine of the language model's vectors, by exact product.

    vectors (float32 (len(dictionary), d)): Unit vectors of the dictionary's names.
    """

    def __init__(self, encoder: TextEncoder, vectors: np.ndarray, *, name: str = "lm") -> None:
        self.name = name
        self.encoder = encoder
        self.vectors = vectors

    def search(self, mentions: list[str], k: int) -> np.ndarray:
        queries = self.encoder.encode(mentions)
        blocks = [
            top_rows(queries[start : start + _BLOCK] @ self.vectors.T, k, above=-2.0)
            for start in range(0, len(queries), _BLOCK)
        ]
        return np.concatenate(blocks)


class IndexRetriever:
    """Cosine of the language model's vectors through the alias index's engine.

    vectors (float32 (u, d)): Unit vectors of the names that `groups` names first.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        vectors: np.ndarray,
        groups: Groups,
        folder: Path,
        *,
        name: str = "lm+index",
    ) -> None:
        from spacy_bergamot.engines import NmslibEngine

        self.name = name
        self.encoder = encoder
        self.groups = groups
        logger.info("Building the index of %d vectors", len(vectors))
        NmslibEngine.build(folder, vectors)
        self.engine = NmslibEngine.open(folder)

    def search(self, mentions: list[str], k: int) -> np.ndarray:
        found, _ = self.engine.search(self.encoder.encode(mentions), k)
        rows = np.full((len(mentions), k), -1, dtype=np.int64)
        _, indptr, members = self.groups
        for row, ids in enumerate(found):
            names = [members[indptr[i] : indptr[i + 1]] for i in ids if i >= 0]
            best = np.concatenate(names)[:k]
            rows[row, : len(best)] = best
        return rows


def top_rows(scores: np.ndarray, k: int, *, above: float) -> np.ndarray:
    """Return the columns of the k highest scores of every row, ties by column; -1 if not `above`.

    scores (float32 (n, m)).
    """
    k_here = min(k, scores.shape[1])
    threshold = np.partition(scores, -k_here, axis=1)[:, -k_here]
    result = np.full((len(scores), k), -1, dtype=np.int64)
    for row, values in enumerate(scores):
        columns = np.flatnonzero(values >= max(threshold[row], np.nextafter(above, 1)))
        ranked = columns[np.argsort(-values[columns], kind="stable")][:k]
        result[row, : len(ranked)] = ranked
    return result
