"""Alias indexes of dictionaries, as the product has them, and generators over them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from spacy_bergamot.encoder.text_encoder import Encodes, EncodesAliases, Piece
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import EnsembleGenerator, Generator
from spacy_bergamot.storage.scratch import Scratch
from training.corpora.dictionary import Dictionary


class NoLm:
    """Stands where no generator asks a language model: all names share one vector."""

    dim, precision = 1, "fp32"

    def tokenize(self, names: Sequence[str]) -> list[list[int]]:
        """Return no token of any name."""
        return [[] for _ in names]

    def encode(self, names: Sequence[str]) -> np.ndarray:
        """Return ones, float32 (len(names), 1)."""
        return np.ones((len(names), 1), dtype=np.float32)

    def encode_in_pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield the ones."""
        yield Piece(np.arange(len(names)), self.encode(names))


@contextmanager
def indexed(
    dictionary: Dictionary,
    encoder: EncodesAliases,
    *,
    engine: str = "exact",
    lm_fingerprint: str = "",
    **options: Any,
) -> Iterator[AliasIndex]:
    """Build the alias index of a dictionary in a temporary folder, and open it.

    engine, lm_fingerprint, options: Of `AliasIndex.build`.
    """
    with Scratch() as folder:
        dictionary.write(folder / "concepts")
        AliasIndex.build(
            folder / "index",
            folder / "concepts",
            encoder,
            lm_fingerprint=lm_fingerprint,
            engine=engine,
            **options,
        )
        yield AliasIndex.open(folder / "index", checksums=False)


def over(
    index: AliasIndex, encoder: Encodes, generator: Generator | EnsembleGenerator
) -> CandidateGenerator:
    """Return a generator over an index, without filters."""
    return CandidateGenerator(encoder, index, CandidateFilter(), generator=generator)
