"""Retrievers: mentions in, ranked rows of a dictionary out."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.distinct import Groups
from spacy_bergamot.text import normalize
from training.evaluate.dictionary import Dictionary

_BLOCK = 64

logger = logging.getLogger(__name__)


class Found(NamedTuple):
    """Names found for mentions.

    rows (int64 (n, k)): Rows of the dictionary by falling score, ties by row; -1 fills up.
    scores (float32 (n, k)): Their scores; -1 where there is no row.
    """

    rows: np.ndarray
    scores: np.ndarray


class Retriever(ABC):
    """What is evaluated."""

    name: str

    @abstractmethod
    def find(self, mentions: list[str], k: int) -> Found:
        """Return the k best names of every mention."""

    def search(self, mentions: list[str], k: int) -> np.ndarray:
        """Return the rows alone, int64 (len(mentions), k)."""
        return self.find(mentions, k).rows


class ExactRetriever(Retriever):
    """A mention's own normal form, or nothing."""

    name = "exact"

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary

    def find(self, mentions: list[str], k: int) -> Found:
        rows = np.full((len(mentions), k), -1, dtype=np.int64)
        rows[:, 0] = [self.dictionary.rows.get(normalize(mention), -1) for mention in mentions]
        return Found(rows, np.where(rows >= 0, 1, -1).astype(np.float32))


class TfidfRetriever(Retriever):
    """Cosine of TF-IDF vectors of character 3-grams within words, as scispaCy and xMEN."""

    name = "tf-idf"

    def __init__(self, dictionary: Dictionary) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32, lowercase=False
        )
        self.matrix = self.vectorizer.fit_transform(dictionary.names).T.tocsr()

    def find(self, mentions: list[str], k: int) -> Found:
        queries = self.vectorizer.transform([normalize(mention) for mention in mentions])
        blocks = (
            (queries[start : start + _BLOCK] @ self.matrix).toarray()
            for start in range(0, queries.shape[0], _BLOCK)
        )
        return _best(blocks, k, above=0.0)


class DenseRetriever(Retriever):
    """Cosine of the language model's vectors, by exact product.

    vectors (float32 (len(dictionary), d)): Unit vectors of the dictionary's names.
    """

    def __init__(self, encoder: TextEncoder, vectors: np.ndarray, *, name: str = "lm") -> None:
        self.name = name
        self.encoder = encoder
        self.vectors = vectors

    def find(self, mentions: list[str], k: int) -> Found:
        queries = self.encoder.encode(mentions)
        blocks = (
            queries[start : start + _BLOCK] @ self.vectors.T
            for start in range(0, len(queries), _BLOCK)
        )
        return _best(blocks, k, above=-2.0)


class IndexRetriever(Retriever):
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
        from spacy_bergamot.index.engines import NmslibEngine

        self.name = name
        self.encoder = encoder
        self.groups = groups
        logger.info("Building the index of %d vectors", len(vectors))
        NmslibEngine.build(folder, vectors)
        self.engine = NmslibEngine.open(folder)

    def find(self, mentions: list[str], k: int) -> Found:
        found, cosines = self.engine.search(self.encoder.encode(mentions), k)
        rows = np.full((len(mentions), k), -1, dtype=np.int64)
        scores = np.full((len(mentions), k), -1, dtype=np.float32)
        _, indptr, members = self.groups
        for row, (ids, values) in enumerate(zip(found, cosines, strict=True)):
            ids, values = ids[ids >= 0], values[ids >= 0]
            sizes = indptr[ids + 1] - indptr[ids]
            names = np.concatenate([members[indptr[i] : indptr[i + 1]] for i in ids])[:k]
            rows[row, : len(names)] = names
            scores[row, : len(names)] = np.repeat(values, sizes)[:k]
        return Found(rows, scores)


def _best(blocks: Iterable[np.ndarray], k: int, *, above: float) -> Found:
    """Return the best k columns of every row of the blocks, and their scores."""
    found = []
    for scores in blocks:
        rows = top_rows(scores, k, above=above)
        values = np.take_along_axis(scores, np.maximum(rows, 0), axis=1)
        found.append((rows, np.where(rows >= 0, values, -1).astype(np.float32)))
    rows, best = zip(*found, strict=True)
    return Found(np.concatenate(rows), np.concatenate(best))


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
