"""Positive pairs: two different names of one concept, capped per concept and bucket.

The combinations of a bucket are numbered, and numbers are drawn: a concept with 2,000 names has
two million pairs and costs no more than its caps.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb_import.keys import is_first
from training.preprocess.buckets import (
    Caps,
    Columns,
    bucket_items,
    buckets_of,
    labels_and_caps,
    ordered_languages,
)
from training.preprocess.hashing import mix, string_hashes

_FEW = 8  # times the cap; a bucket with no more combinations than this is written out
# The round that is drawn from, and from which to which of its draws, in caps; while a bucket is
# short. Nearly every bucket has enough after the first.
_DRAWS = ((0, 0, 2), (0, 2, 8), (1, 0, 16), (2, 0, 32), (3, 0, 64), (4, 0, 128), (5, 0, 256))
_UNITS = 1 << 14  # names whose buckets are in memory at a time; they stay in the cache
_CHUNK = 1 << 17  # combinations likewise
_ORIENTATION = 1 << 32  # sets these draws apart from those of any round


def positive_pairs(
    units: pl.DataFrame,
    concepts: np.ndarray,
    *,
    caps: Caps,
    english_crosslingual_only: bool = True,
    seed: int = 0,
) -> Iterator[tuple[np.ndarray, Counter[str]]]:
    """Yield a uniform sample, in random orientation, of the pairs of every bucket.

    units (pl.DataFrame): concept, language, name (id); distinct.
    concepts (uint64 (n,)): Stable hash of every concept; with seed and bucket it fixes the draw.
    YIELDS (tuple): Pairs, int32 (p, 3): concept, name, name, sorted by concept and bucket and
        in the order drawn; and how many of them each bucket gave, all buckets in their order. A
        bucket of over 8 caps of combinations, of which next to none belong to it, may give less
        than it has.
    """
    only = english_crosslingual_only
    languages = ordered_languages(units["language"].unique().to_list())
    labels, limits = labels_and_caps(languages, caps, english_only=only)
    hashes = string_hashes(pa.array(labels, pa.large_string()))
    for some in _whole_concepts(units, languages):
        items = bucket_items(some, languages, english_only=only)
        buckets = buckets_of(items, languages, limits, english_only=only)
        names = items["name"].astype(np.int32)
        salt = mix(seed, concepts[buckets["concept"]], hashes[buckets["label"]])
        buckets["state"] = mix(salt)
        for chunk in _chunks(buckets):
            bucket, pairs = _sample(chunk, names, items["languages"])
            found = np.bincount(chunk["label"][bucket], minlength=len(labels))
            yield pairs, Counter(dict(zip(labels, found.tolist(), strict=True)))


def _whole_concepts(units: pl.DataFrame, languages: list[str]) -> Iterator[Columns]:
    """Cut the units into runs of whole concepts; yield concept, code and name, int64."""
    if not units["concept"].is_sorted():
        units = units.sort("concept")
    codes = units["language"].cast(pl.Enum(languages)).to_physical()
    buckets = {
        "concept": units["concept"].to_numpy(),
        "code": codes.to_numpy(),
        "name": units["name"].to_numpy(),
    }
    concept = buckets["concept"]
    cuts = np.unique(np.searchsorted(concept, concept[::_UNITS]))
    for start, end in pairwise([*cuts.tolist(), len(concept)]):
        yield {name: column[start:end].astype(np.int64) for name, column in buckets.items()}


def _chunks(buckets: Columns) -> Iterator[Columns]:
    """Cut the buckets into runs whose combinations fit into memory."""
    cost = np.minimum(buckets["total"], _FEW * buckets["cap"])
    starts = np.flatnonzero(is_first(np.cumsum(cost) // _CHUNK))
    for start, end in pairwise([*starts.tolist(), len(cost)]):
        yield {name: column[start:end] for name, column in buckets.items()}


def _sample(
    buckets: Columns, names: np.ndarray, languages: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of buckets and, int32 (p, 3), their pairs, in draw order.

    A bucket with no more combinations than its cap is written out. Of the others the small ones
    are written out in random order; for the large, numbers are drawn with repetition. What
    repeats or is another bucket's falls out; the first `cap` stay.
    """
    whole = _all_combinations(buckets, languages)
    drawn = _capped_combinations(buckets, languages)
    bucket, number = (np.concatenate(parts) for parts in zip(whole, drawn, strict=True))
    order = np.argsort(bucket, kind="stable")
    bucket, number = bucket[order], number[order]
    left, right = (names[side] for side in _unrank(buckets, bucket, number))
    hashes = mix(number, _ORIENTATION, state=buckets["state"][bucket])
    turned = (hashes & np.uint64(1)).astype(bool)
    pairs = np.empty((len(bucket), 3), dtype=np.int32)
    pairs[:, 0] = buckets["concept"][bucket]
    pairs[:, 1] = np.where(turned, right, left)
    pairs[:, 2] = np.where(turned, left, right)
    return bucket, pairs


def _all_combinations(buckets: Columns, languages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bucket and number of every combination of the buckets that their caps do not cut."""
    totals = buckets["total"]
    uncut = np.flatnonzero(totals <= buckets["cap"])
    bucket, number = _slots(uncut, totals[uncut])
    mine = _own(buckets, languages, bucket, number)
    return bucket[mine], number[mine]


def _own(
    buckets: Columns, languages: np.ndarray, bucket: np.ndarray, number: np.ndarray
) -> np.ndarray:
    """Return which combinations belong to their bucket and to none before it."""
    shared, earlier = buckets["shared"], buckets["earlier"]
    own = np.ones(len(bucket), dtype=bool)
    unsure = np.flatnonzero((shared | earlier)[bucket])
    bucket = bucket[unsure]
    left, right = (languages[side] for side in _unrank(buckets, bucket, number[unsure]))
    own[unsure] = ((left & right & shared[bucket]) | (right & earlier[bucket])) == 0
    return own


def _capped_combinations(buckets: Columns, languages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bucket and number of the combinations drawn for the buckets that their caps cut."""
    caps, totals = buckets["cap"], buckets["total"]
    few = _shuffled(np.flatnonzero((totals > caps) & (totals <= _FEW * caps)), buckets)
    mine = _own(buckets, languages, *few)
    few = _up_to_cap(few[0][mine], few[1][mine], caps)
    kept = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    short = np.flatnonzero(totals > _FEW * caps)
    for draws in _DRAWS:
        bucket, number = _draw(short, buckets, *draws)
        mine = _own(buckets, languages, bucket, number)
        drawn = np.r_[kept[0], bucket[mine]], np.r_[kept[1], number[mine]]
        kept = _first(*drawn, totals, caps)
        counts = np.bincount(kept[0], minlength=len(caps))
        short = short[counts[short] < caps[short]]
        if not len(short):
            break
    return np.r_[few[0], kept[0]], np.r_[few[1], kept[1]]


def _shuffled(short: np.ndarray, buckets: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return buckets and numbers of all their combinations, a bucket's in random order."""
    bucket, slot = _slots(short, buckets["total"][short])
    random = mix(slot, 0, state=buckets["state"][bucket])
    room = np.uint64(len(buckets["total"]).bit_length())
    keys = (bucket.astype(np.uint64) << (np.uint64(64) - room)) | (random >> room)
    return bucket, slot[np.argsort(keys)]


def _draw(
    short: np.ndarray, buckets: Columns, round_: int, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return buckets and numbers drawn with repetition, a bucket's in the order they count."""
    caps = buckets["cap"][short]
    bucket, slot = _slots(short, (last - first) * caps)
    slot += (first * buckets["cap"])[bucket]
    random = mix(slot, round_, state=buckets["state"][bucket])
    return bucket, (random % buckets["total"][bucket].astype(np.uint64)).astype(np.int64)


def _slots(buckets: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every bucket so many times, and the numbers from 0 for each."""
    ends = np.cumsum(sizes)
    bucket = np.repeat(buckets, sizes)
    return bucket, np.arange(len(bucket)) - np.repeat(ends - sizes, sizes)


def _first(
    bucket: np.ndarray, number: np.ndarray, totals: np.ndarray, caps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keep each bucket's first distinct combinations, up to its cap, in draw order."""
    before = np.cumsum(totals) - totals
    keys = before[bucket] + number
    order = np.argsort(keys)
    distinct = np.minimum.reduceat(order, np.flatnonzero(is_first(keys[order])))
    distinct.sort()
    order = distinct[np.argsort(bucket[distinct], kind="stable")]
    return _up_to_cap(bucket[order], number[order], caps)


def _up_to_cap(
    bucket: np.ndarray, number: np.ndarray, caps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keep the first of every bucket, up to its cap; the buckets are sorted."""
    _, place = _slots(np.arange(len(caps)), np.bincount(bucket, minlength=len(caps)))
    kept = place < caps[bucket]
    return bucket[kept], number[kept]


def _unrank(
    buckets: Columns, bucket: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the two items of a combination.

    Between two sides it is left · width + right; within one, right · (right - 1) / 2 + left with
    left < right. Quotient and root are exact for fewer than 2^25 items.
    """
    width = buckets["width"][bucket]
    across = width > 0
    quotient = (number / np.maximum(width, 1)).astype(np.int64)
    root = (np.sqrt(2.0 * number + 0.25) + 0.5).astype(np.int64)
    left = np.where(across, quotient, number - (root * (root - 1) >> 1))
    right = np.where(across, number - quotient * width, root)
    left += buckets["left"][bucket]
    right += buckets["right"][bucket]
    return left, right
