"""Readings: a document's text as names are sought in it, with words whole that are broken.

Whatever finds names reads these, and says with them where in the document a name stands.
"""

from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from spacy_bergamot.text import Break, breaks


class Reading(NamedTuple):
    """A text, and where its characters and tokens are.

    text (str): The text.
    starts, ends (int64 (characters,)): Where each character begins and ends in the document.
    token_starts, token_ends (int64 (tokens,)): Where tokens begin and end in the text. Those of one
        word are one.
    """

    text: str
    starts: np.ndarray
    ends: np.ndarray
    token_starts: np.ndarray
    token_ends: np.ndarray

    def places(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where stretches of the text, none of them empty, are in the document.

        starts (int64 (n,)): The first character of each.
        ends (int64 (n,)): The character behind its last.
        """
        return self.starts[starts], self.ends[ends - 1]


def readings(doc: Doc) -> list[Reading]:
    """Return the text with the hyphens at ends of lines, and without them if there are any.

    Either may be right: "beta-blocker", "pneumonia". Soft hyphens and other characters that nobody
    sees are in neither.

    doc (Doc): The document.
    """
    text = doc.text
    found = [list(breaks(text, whole=False))]
    if found[0] and (whole := list(breaks(text, whole=True))) != found[0]:
        found.append(whole)
    return [_read(doc, text, of) for of in found]


def reading(doc: Doc) -> Reading:
    """Return the text of a document with all its words whole.

    doc (Doc): The document.
    """
    return readings(doc)[-1]


def _read(doc: Doc, text: str, broken: list[Break]) -> Reading:
    token_starts, token_ends = _tokens(doc)
    places = np.arange(len(text) + 1)
    starts, ends = places[:-1], places[1:]
    if not broken:
        return Reading(text, starts, ends, token_starts, token_ends)
    parts, froms, tos, behind = [], [], [], 0
    for start, end, instead in [*broken, Break(len(text), len(text), "")]:
        parts += [text[behind:start], instead]
        froms += [starts[behind:start], np.full(len(instead), start)]
        tos += [ends[behind:start], np.full(len(instead), end)]
        behind = end
    text, starts, ends = "".join(parts), np.concatenate(froms), np.concatenate(tos)
    token_starts = np.searchsorted(starts, token_starts)
    token_ends = np.searchsorted(ends, token_ends, side="right")
    left = token_starts < token_ends
    joins = np.flatnonzero(starts[1:] > ends[:-1]) + 1
    inside = [at for at in joins.tolist() if text[at - 1].isalpha() and text[at].isalpha()]
    token_starts, token_ends = (np.setdiff1d(of[left], inside) for of in (token_starts, token_ends))
    return Reading(text, starts, ends, token_starts, token_ends)


def _tokens(doc: Doc) -> tuple[np.ndarray, np.ndarray]:
    """Return where the tokens of a document begin and end, int64 (tokens,)."""
    lengths = doc.to_array("LENGTH").astype(np.int64)
    behind = np.cumsum(lengths + doc.to_array("SPACY").astype(np.int64))
    ends = behind - doc.to_array("SPACY").astype(np.int64)
    return ends - lengths, ends
