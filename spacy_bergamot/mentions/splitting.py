"""Tokens split where mentions begin and end, so that spans in scripts without spaces are exact.

spaCy's retokenizer moves all tokens behind every one that it splits; here all are split at once,
in a new document.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from spacy_bergamot.scripts import lacks_spaces

_KEPT = ("TAG", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID", "MORPH", "POS", "SENT_START", "LEMMA")
_BEGINS, _CONTINUES = 3, 1  # of ENT_IOB


class Place(NamedTuple):
    """Where a span is to be, in characters, and what it says."""

    start: int
    end: int
    label: str
    kb_id: str = ""


def exact_spans(doc: Doc, places: Sequence[Place]) -> tuple[Doc, list[Span | None]]:
    """Return a document with a span for every place; None for one outside of its tokens.

    Tokens with a script without spaces are split at the borders of spans. Others stay, and spans
    that end inside of them are widened to them.

    doc (Doc): The document; it stays as it is.
    places (Sequence[Place]): Where spans are to be, in any order.
    """
    borders = {border for place in places for border in (place.start, place.end)}
    starts = _starts(doc)
    inside = [
        border
        for border in borders
        if len(starts) and lacks_spaces(doc[_token_at(starts, border)].text)
    ]
    doc = split_tokens(doc, inside)
    spans = [
        doc.char_span(start, end, label, kb_id=kb_id, alignment_mode="expand")
        if 0 <= start < end
        else None
        for start, end, label, kb_id in places
    ]
    return doc, spans


def split_tokens(doc: Doc, borders: Collection[int]) -> Doc:
    """Return a document whose tokens are split at borders (characters of the document).

    It is the document itself if no border lies inside a token. Else it is a new one, to which
    entities, span groups, sentences and what else was annotated go over; what belongs to a token
    goes to all its parts, in a parse to the first.

    doc (Doc): The document; it stays as it is.
    borders (Collection[int]): Characters; those that are no border inside a token change nothing.
    """
    starts, ends = _starts(doc), _starts(doc) + doc.to_array("LENGTH").astype(np.int64)
    cuts = np.unique(np.fromiter(borders, dtype=np.int64))
    if len(starts):
        cut = np.searchsorted(starts, cuts, side="right") - 1
        cuts = cuts[(cuts > starts[cut]) & (cuts < ends[cut]) & (cut >= 0)]
    if not len(starts) or not len(cuts):
        return doc
    from_ = np.union1d(starts, cuts)
    owners = np.searchsorted(starts, from_, side="right") - 1
    to = np.minimum(ends[owners], np.append(from_[1:], ends[-1]))
    text = doc.text
    words = [text[start:end] for start, end in zip(from_.tolist(), to.tolist(), strict=True)]
    space = doc.to_array("SPACY").astype(bool)
    made = Doc(doc.vocab, words, (space[owners] & (to == ends[owners])).tolist())
    firsts = np.append(np.searchsorted(from_, starts), len(from_))
    _annotate(made, doc, owners, firsts)
    return made


def _annotate(made: Doc, doc: Doc, owners: np.ndarray, firsts: np.ndarray) -> None:
    """Copy what is known of a document to another whose tokens are parts of its tokens.

    owners (int64 (parts,)): The token of every part. firsts (int64 (tokens + 1,)): The first part
        of every token.
    """
    parts = np.arange(len(owners))
    is_first = firsts[owners] == parts
    is_split = (np.diff(firsts) > 1)[owners]
    values = {name: doc.to_array(name)[owners] for name in _KEPT}
    begins = values["ENT_IOB"] == _BEGINS
    values["ENT_IOB"][begins & ~is_first] = _CONTINUES
    values["SENT_START"][(values["SENT_START"] == 1) & ~is_first] = np.uint64(2**64 - 1)
    has_lemma = (values["LEMMA"] != 0) & is_split
    values["LEMMA"][has_lemma] = made.to_array("ORTH")[has_lemma]
    if doc.has_annotation("DEP"):
        heads = np.arange(len(doc)) + doc.to_array("HEAD").astype(np.int64)
        new = np.where(is_first, firsts[heads[owners]], firsts[owners])
        values |= {"DEP": doc.to_array("DEP")[owners], "HEAD": (new - parts).astype(np.uint64)}
        del values["SENT_START"]  # the parse has it
    columns: Any = np.stack(list(values.values()), axis=1).astype(np.uint64)
    made.from_array(list(values), columns)
    if len(doc.tensor) == len(doc):
        made.tensor = doc.tensor[owners]
    for key, group in doc.spans.items():
        spans = [
            Span(
                made,
                int(firsts[span.start]),
                int(firsts[span.end]),
                label=span.label,
                kb_id=span.kb_id,
                span_id=span.id,
            )
            for span in group
        ]
        made.spans[key] = SpanGroup(made, name=group.name, attrs=group.attrs, spans=spans)
    for name in ("cats", "sentiment", "user_data", "has_unknown_spaces", "_context"):
        setattr(made, name, getattr(doc, name))
    for name in ("user_hooks", "user_token_hooks", "user_span_hooks"):
        setattr(made, name, getattr(doc, name))


def _starts(doc: Doc) -> np.ndarray:
    return np.fromiter((token.idx for token in doc), dtype=np.int64, count=len(doc))


def _token_at(starts: np.ndarray, character: int) -> int:
    return max(0, int(np.searchsorted(starts, character, side="right")) - 1)
