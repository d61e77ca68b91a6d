"""A document as a language model's pieces, and the units that are tagged.

A unit is a token, whole where it is broken; in scripts without spaces it is a part of one. Its tag
is read off the first of its pieces; units that share a piece are one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Doc

from spacy_bergamot.mentions.reading import reading
from spacy_bergamot.mentions.units import units_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WORD = "\u2581"  # where a word begins, in SentencePiece


class Pieces(NamedTuple):
    """Pieces of a document, without special tokens, and its units.

    ids (int64 (pieces,)): Of the vocabulary.
    firsts (int64 (units,)): The first piece of every unit.
    starts, ends (int64 (units,)): Its characters.
    """

    ids: np.ndarray
    firsts: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def units(self, start: int, end: int) -> slice:
        """Return the units that share a character with a stretch of the text.

        start (int): First character of the stretch.
        end (int): The character behind its last.
        """
        first = int(np.searchsorted(self.ends, start, side="right"))
        return slice(first, max(first, int(np.searchsorted(self.starts, end, side="left"))))

    def characters(self, first: int, stop: int) -> tuple[int, int]:
        """Return where a run of units, up to but not with `stop`, begins and ends in the text.

        first (int): The first unit.
        stop (int): The unit behind the last.
        """
        return int(self.starts[first]), int(self.ends[stop - 1])


class Window(NamedTuple):
    """A run of pieces that is read at once, and the run of units in it that it decides on."""

    pieces: slice
    units: slice


def read_pieces(doc: Doc, tokenizer: "Tokenizer") -> Pieces:
    """Return the pieces of a document.

    doc (Doc): The document.
    tokenizer (tokenizers.Tokenizer): Without truncation and padding.
    """
    read = reading(doc)
    encoding = tokenizer.encode(read.text, add_special_tokens=False)
    piece_ends = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)[:, 1]
    # Before a character that begins no piece of its own the mark of a word stands alone, with that
    # character's place: its tag is that of the space, so that a text's first character was lost.
    written = np.flatnonzero([token != _WORD for token in encoding.tokens])
    units = units_of(read)
    firsts = np.searchsorted(piece_ends[written], units.starts, side="right")
    seen = firsts < len(written)  # a unit of which the model reads nothing is none
    firsts, at = np.unique(written[firsts[seen]], return_index=True)
    starts, ends = read.places(units.starts[seen], units.ends[seen])
    last = np.append(at, len(ends))[1:] - 1
    return Pieces(np.array(encoding.ids, dtype=np.int64), firsts, starts[at], ends[last])


def windows_of(pieces: Pieces, *, size: int, context: int) -> Iterator[Window]:
    """Yield windows that together decide on every unit once.

    pieces (Pieces): Of a document.
    size (int): Pieces of a window at most.
    context (int): Pieces on either side of those that it decides on, where the text goes on.
    """
    count = len(pieces.ids)
    if count <= size:
        yield Window(slice(0, count), slice(0, len(pieces.firsts)))
        return
    step = size - 2 * context
    for start in range(0, count, step):
        units = np.searchsorted(pieces.firsts, [start, start + step])
        if units[0] < units[1]:
            window = slice(max(0, start - context), min(count, start + step + context))
            yield Window(window, slice(int(units[0]), int(units[1])))
