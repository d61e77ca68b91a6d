"""ReusingEncoder: an encoder that takes from an index the vectors that it has already.

Of a packaged pipeline the search engine alone keeps vectors. In 16 or 8 bits they are rounded, and
rounded again they stay as they are: the engine of the next release gets just what it would get if
all names were encoded anew.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from spacy_bergamot.encoder.text_encoder import EncodesAliases, Piece
from spacy_bergamot.index.alias_index import AliasIndex

_BLOCK = 1 << 14


class ReusingEncoder:
    """An encoder in front of an index of the same language model.

    encoder (EncodesAliases): Encodes the names that the index does not have.
    index (AliasIndex): Has the vectors of the others.
    """

    def __init__(self, encoder: EncodesAliases, index: AliasIndex) -> None:
        self._encoder = encoder
        self._index = index

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return self._encoder.dim

    @property
    def precision(self) -> str:
        """Of the weights, and where other vectors came from: no others are mistaken for these."""
        return f"{self._encoder.precision}, index {self._index.fingerprint[:16]}"

    def tokenize(self, names: Sequence[str]) -> list[list[int]]:
        """Return the token ids of every name."""
        return self._encoder.tokenize(names)

    def encode(self, names: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float32 (len(names), d)."""
        vectors = np.empty((len(names), self.dim), dtype=np.float32)
        for piece in self.encode_in_pieces(names):
            vectors[piece.rows] = piece.vectors
        return vectors

    def encode_in_pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield the unit vectors of some names at a time, those of the index first."""
        strings = self._index.lookup(names)
        known, new = np.flatnonzero(strings >= 0), np.flatnonzero(strings < 0)
        for start in range(0, len(known), _BLOCK):
            rows = known[start : start + _BLOCK]
            vectors = self._index.string_vectors[strings[rows]]
            yield Piece(rows, self._index.engine.vectors(vectors))
        for piece in self._encoder.encode_in_pieces([names[row] for row in new.tolist()]):
            yield Piece(new[piece.rows], piece.vectors)
