"""Buckets: the pairs of a concept that are drawn together, under one cap.

Pairs within a language form the bucket of that language; pairs across languages the bucket
`ENG|xxx`, or one bucket `CROSS`. A string may belong to several languages, but a pair of strings
belongs to one bucket only, the first that admits it: English, the other languages in alphabetical
order, then the buckets across languages likewise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from spacy_bergamot.kb_import.keys import is_first
from training.errors import BergamotError, Errors

ENGLISH = "ENG"
CROSS = "CROSS"
Columns = dict[str, np.ndarray]
_MAX_LANGUAGES = 63  # they are bits of an int64
_CODE = 6  # bits of a language's code
_NAME = 32  # bits of a name's id


@dataclass(frozen=True)
class Caps:
    """How many pairs a concept may give to a bucket, by the bucket's kind.

    RAISES (BergamotError): If one is below zero.
    """

    english: int = 50
    monolingual: int = 50
    crosslingual: int = 50

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0:
                raise BergamotError(Errors.T108, name=f"cap_{field.name}", value=value)


def ordered_languages(languages: Sequence[str]) -> list[str]:
    """Put English first and the others in alphabetical order; a language's code is its place.

    RAISES (BergamotError): T109 if there are over 63.
    """
    if len(languages) > _MAX_LANGUAGES:
        raise BergamotError(Errors.T109, found=len(languages), most=_MAX_LANGUAGES)
    return sorted(languages, key=lambda name: (name != ENGLISH, name))


def labels_and_caps(
    languages: list[str], caps: Caps, *, english_only: bool
) -> tuple[list[str], np.ndarray]:
    """Return the names of the buckets, in their order, and the cap of each, int64.

    They are the languages and then `ENG|xxx` for each of them, or CROSS.
    """
    across = [f"{ENGLISH}|{name}" for name in languages] if english_only else [CROSS]
    within = [caps.english if name == ENGLISH else caps.monolingual for name in languages]
    return [*languages, *across], np.array([*within, *[caps.crosslingual] * len(across)])


def bucket_items(units: Columns, languages: list[str], *, english_only: bool) -> Columns:
    """Return what buckets draw from, sorted: concept, code (of the language), name, languages.

    units (Columns): concept, code and name, int64, of up to 2^25 concepts; sorted by concept.
    RETURNS (Columns): int64 each. `languages` are the bits of all languages that the string has
        in its concept. Without `english_only`, every string of the concept is there once more
        under the code after the last language's.
    """
    ranks = np.cumsum(is_first(units["concept"])) - 1
    strings = ranks << _NAME | units["name"]
    order = np.argsort(strings)
    first = is_first(strings[order])
    bits = np.bitwise_or.reduceat(1 << units["code"][order], np.flatnonzero(first))
    items = units | {"languages": np.empty_like(ranks)}
    items["languages"][order] = bits[np.cumsum(first) - 1]
    if not english_only:
        once = order[first]
        every = np.full(len(once), len(languages))
        again = {column: values[once] for column, values in items.items()} | {"code": every}
        items = {column: np.r_[items[column], again[column]] for column in items}
        ranks = np.r_[ranks, ranks[once]]
    order = np.argsort((ranks << _CODE | items["code"]) << _NAME | items["name"])
    return {column: values[order] for column, values in items.items()}


def buckets_of(
    items: Columns, languages: list[str], caps: np.ndarray, *, english_only: bool
) -> Columns:
    """Return the buckets that have combinations, sorted by concept and label.

    caps (int64): The cap of every label.
    RETURNS (Columns): int64 each.
        concept, label: Its concept; its name's number.
        left, right: Where the items of either side start.
        width: How many the right side has; 0 if the combinations are the unordered pairs of the
            left side's.
        shared: A pair whose strings have one of these languages in common is another bucket's.
        earlier: So is one whose right string has one of these.
        total, cap: Combinations, and pairs to draw at most.
    """
    starts = np.flatnonzero(is_first(items["concept"]) | is_first(items["code"]))
    sizes = np.diff(starts, append=len(items["code"]))
    concept, code = items["concept"][starts], items["code"][starts]
    mixed = np.bitwise_or.reduceat(items["languages"], starts)
    none = np.zeros_like(starts)
    before = np.where(mixed == 1 << code, 0, (1 << code) - 1)
    within = {
        "concept": concept,
        "label": code,
        "left": starts,
        "right": starts,
        "width": none,
        "shared": np.where(code < len(languages), before, -1),
        "earlier": none,
        "total": sizes * (sizes - 1) // 2,
    }
    if english_only and ENGLISH in languages:
        heads = np.flatnonzero(is_first(concept))
        head = np.repeat(heads, np.diff(heads, append=len(concept)))
        other = np.flatnonzero((code > 0) & (code[head] == 0))
        english = head[other]
        sure = (mixed[english] == 1) & (mixed[other] == 1 << code[other])
        across = {
            "concept": concept[other],
            "label": code[other] + len(languages),
            "left": starts[english],
            "right": starts[other],
            "width": sizes[other],
            "shared": np.where(sure, 0, -1),
            "earlier": before[other],
            "total": sizes[english] * sizes[other],
        }
        within = {column: np.r_[values, across[column]] for column, values in within.items()}
    within["cap"] = caps[within["label"]]
    kept = np.flatnonzero((within["total"] > 0) & (within["cap"] > 0))
    order = kept[np.argsort(within["concept"][kept], kind="stable")]
    return {column: values[order] for column, values in within.items()}
