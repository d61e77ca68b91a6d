"""Positive pairs: two different names of one concept, capped per concept and bucket.

Pairs within a language form the bucket of that language; pairs across languages the bucket
`ENG|xxx`, or one bucket `CROSS`. A string may belong to several languages, but a pair of strings
belongs to one bucket only, the first that admits it: English, the other languages in alphabetical
order, then the buckets across languages likewise.

The combinations of a bucket are numbered, and numbers are drawn: a concept with 2,000 names has
two million pairs and costs no more than its caps.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from training.errors import BergamotError, Errors
from training.preprocess.hashing import mix, string_hashes
from training.preprocess.keys import is_first

ENGLISH = "ENG"
CROSS = "CROSS"
_MAX_LANGUAGES = 63  # they are bits of an int64
_DRAWS = 8  # times the cap; a bucket with no more combinations than this is written out
_ROUNDS = 6  # each draws twice as much for the buckets that are short
_CHUNK = 1 << 16  # combinations in memory at a time; they stay in the processor's cache
_ORIENTATION = 1 << 32  # sets these draws apart from those of any round


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
                raise BergamotError(Errors.T108.format(name=f"cap_{field.name}", value=value))


def positive_pairs(
    units: pl.DataFrame,
    concepts: np.ndarray,
    *,
    caps: Caps,
    english_crosslingual_only: bool = True,
    seed: int = 0,
) -> tuple[np.ndarray, dict[str, int]]:
    """Return a uniform sample, in random orientation, of the pairs of every bucket.

    units (pl.DataFrame): concept, language, name (id); distinct.
    concepts (uint64 (n,)): Stable hash of every concept; with seed and bucket it fixes the draw.
    RETURNS (tuple): Pairs, int32 (p, 3): concept, name, name, sorted by concept and bucket and
        in the order drawn; and how many pairs each bucket gave. A bucket of over 8 caps of
        combinations, of which next to none belong to it, may give less than it has.
    """
    if units.is_empty():
        return np.empty((0, 3), dtype=np.int32), {}
    languages = sorted(units["language"].unique(), key=lambda name: (name != ENGLISH, name))
    if len(languages) > _MAX_LANGUAGES:
        raise BergamotError(Errors.T109.format(found=len(languages), most=_MAX_LANGUAGES))
    across = [f"{ENGLISH}|{name}" for name in languages] if english_crosslingual_only else [CROSS]
    labels = [*languages, *across]
    items = _items(units, languages, every=not english_crosslingual_only)
    buckets = _buckets(items, languages, caps, english_only=english_crosslingual_only)
    hashes = string_hashes(pa.array(labels, pa.large_string()))
    salt = mix(seed, concepts[buckets["concept"].to_numpy()], hashes[buckets["label"].to_numpy()])
    buckets = buckets.with_columns(salt=pl.Series(salt, dtype=pl.UInt64))
    parts = [np.empty((0, 3), dtype=np.int32)]
    found = np.zeros(len(labels), dtype=np.int64)
    for chunk in _chunks(buckets):
        owners, pairs = _sample(chunk, items["name"].to_numpy(), items["languages"].to_numpy())
        found += np.bincount(chunk["label"].to_numpy()[owners], minlength=len(labels))
        parts.append(np.column_stack([chunk["concept"].to_numpy()[owners], pairs]))
    counts = {label: int(n) for label, n in zip(labels, found, strict=True) if n}
    return np.concatenate(parts, dtype=np.int32), counts


def _items(units: pl.DataFrame, languages: list[str], *, every: bool) -> pl.DataFrame:
    """Return what buckets draw from, sorted: concept, code (of the language), name, languages.

    `languages` are the bits of all languages that the string has in its concept. With `every`,
    every string of the concept is there once more under the code after the last language's.
    """
    codes = pl.col("language").cast(pl.Enum(languages)).to_physical()
    columns = units.select("concept", "name", code=codes).cast(pl.Int64)
    concept, name, code = (columns[column].to_numpy() for column in ("concept", "name", "code"))
    order = np.argsort(concept << 32 | name, kind="stable")
    concept, name, code = concept[order], name[order], code[order]
    fresh = np.r_[True, (concept[1:] != concept[:-1]) | (name[1:] != name[:-1])]
    starts = np.flatnonzero(fresh)
    strings = np.cumsum(fresh) - 1
    bits = np.bitwise_or.reduceat(1 << code, starts)
    if every:
        concept, name = np.r_[concept, concept[starts]], np.r_[name, name[starts]]
        code = np.r_[code, np.full(len(starts), len(languages))]
        strings = np.r_[strings, np.arange(len(starts))]
    order = np.argsort(concept << 32 | code, kind="stable")
    items = {"concept": concept, "code": code, "name": name, "languages": bits[strings]}
    return pl.DataFrame({column: values[order] for column, values in items.items()})


def _buckets(
    items: pl.DataFrame, languages: list[str], caps: Caps, *, english_only: bool
) -> pl.DataFrame:
    """Return a row per bucket that has combinations, sorted by concept and label.

    label (Int64): Number of the bucket's name: the language's code, or the number of languages
        plus the code of xxx in ENG|xxx, or the number of languages for CROSS.
    left, right (Int64): Where the items of either side start; left_size, right_size. Without a
        right side the combinations are the unordered pairs of the left.
    shared (Int64): A pair whose strings have one of these languages in common is another bucket's.
    earlier (Int64): So is one whose right string has one of these.
    total, cap (Int64): Combinations, and pairs to draw at most.
    """
    first = [pl.col(column).ne_missing(pl.col(column).shift()) for column in ("concept", "code")]
    starts = items.select(pl.any_horizontal(first).arg_true()).to_series().cast(pl.Int64)
    sizes = np.diff(starts.to_numpy(), append=items.height)
    runs = items[starts].select("concept", "code", left=starts, left_size=sizes)
    before = {code: (1 << code) - 1 for code in range(len(languages))}
    runs = runs.with_columns(
        before=pl.col("code").replace_strict(before, default=-1, return_dtype=pl.Int64)
    )
    capped = {len(languages): caps.crosslingual}
    if ENGLISH in languages:
        capped[0] = caps.english
    zero, size = pl.lit(0, pl.Int64), pl.col("left_size")
    within = runs.select(
        "concept",
        "left",
        "left_size",
        label="code",
        right=zero,
        right_size=zero,
        shared="before",
        earlier=zero,
        total=size * (size - 1) // 2,
        cap=pl.col("code").replace_strict(capped, default=caps.monolingual, return_dtype=pl.Int64),
    )
    if english_only and ENGLISH in languages:
        across = _across(runs, len(languages), caps.crosslingual)
        within = pl.concat([within, across.select(within.columns)])
    within = within.filter((pl.col("total") > 0) & (pl.col("cap") > 0))
    return within.sort("concept", "label")


def _across(runs: pl.DataFrame, languages: int, cap: int) -> pl.DataFrame:
    """Return the buckets of English, whose code is 0, with every other language."""
    english = runs.filter(pl.col("code") == 0)
    others = runs.filter(pl.col("code") > 0)
    return others.join(english, on="concept", suffix="_english").select(
        "concept",
        left="left_english",
        left_size="left_size_english",
        label=pl.col("code") + languages,
        right="left",
        right_size="left_size",
        shared=pl.lit(-1, pl.Int64),
        earlier="before",
        total=pl.col("left_size") * pl.col("left_size_english"),
        cap=pl.lit(cap, pl.Int64),
    )


def _chunks(buckets: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Cut the buckets into runs that fit into memory."""
    cost = pl.min_horizontal("total", _DRAWS * pl.col("cap"))
    numbers = buckets.select(cost.cum_sum() // _CHUNK).to_series().to_numpy()
    starts = [*np.flatnonzero(is_first(numbers)).tolist(), len(numbers)]
    for start, end in pairwise(starts):
        yield buckets[start:end]


def _sample(
    buckets: pl.DataFrame, names: np.ndarray, languages: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of buckets and, int32 (p, 2), the names drawn for them, in draw order.

    A bucket with no more combinations than its cap is written out. Of the others the first
    round writes out the small ones in random order, and draws numbers with repetition for the
    large. What repeats or is another bucket's falls out; the first `cap` stay.
    """
    columns = {name: buckets[name].to_numpy() for name in buckets.columns}
    whole = _all_combinations(columns, languages)
    drawn = _capped_combinations(columns, languages)
    bucket, number = (np.concatenate(parts) for parts in zip(whole, drawn, strict=True))
    order = np.argsort(bucket, kind="stable")
    bucket, number = bucket[order], number[order]
    sides = np.column_stack([names[side] for side in _unrank(columns, bucket, number)])
    turned = (mix(columns["salt"][bucket], number, _ORIENTATION) & np.uint64(1)).astype(bool)
    return bucket, np.where(turned[:, None], sides[:, ::-1], sides)


def _all_combinations(
    columns: dict[str, np.ndarray], languages: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return bucket and number of every combination of the buckets that their caps do not cut."""
    totals = columns["total"]
    uncut = np.flatnonzero(totals <= columns["cap"])
    bucket, number = _slots(uncut, totals[uncut])
    mine = _own(columns, languages, bucket, number)
    return bucket[mine], number[mine]


def _own(
    columns: dict[str, np.ndarray], languages: np.ndarray, bucket: np.ndarray, number: np.ndarray
) -> np.ndarray:
    """Return which combinations belong to their bucket and to none before it."""
    shared, earlier = columns["shared"], columns["earlier"]
    own = np.ones(len(bucket), dtype=bool)
    unsure = np.flatnonzero((shared | earlier)[bucket])
    bucket = bucket[unsure]
    left, right = (languages[side] for side in _unrank(columns, bucket, number[unsure]))
    own[unsure] = ((left & right & shared[bucket]) | (right & earlier[bucket])) == 0
    return own


def _capped_combinations(
    columns: dict[str, np.ndarray], languages: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return bucket and number of the combinations drawn for the buckets that their caps cut."""
    caps, totals = columns["cap"], columns["total"]
    few = _shuffled(np.flatnonzero((totals > caps) & (totals <= _DRAWS * caps)), columns)
    mine = _own(columns, languages, *few)
    few = _up_to_cap(few[0][mine], few[1][mine], caps)
    kept = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    short = np.flatnonzero(totals > _DRAWS * caps)
    for round_ in range(_ROUNDS):
        if not len(short):
            break
        bucket, number = _draw(short, columns, round_)
        mine = _own(columns, languages, bucket, number)
        drawn = np.r_[kept[0], bucket[mine]], np.r_[kept[1], number[mine]]
        kept = _first(*drawn, totals, caps)
        counts = np.bincount(kept[0], minlength=len(caps))
        short = short[counts[short] < caps[short]]
    return np.r_[few[0], kept[0]], np.r_[few[1], kept[1]]


def _shuffled(short: np.ndarray, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return buckets and numbers of all their combinations, a bucket's in random order."""
    bucket, slot = _slots(short, columns["total"][short])
    random = mix(columns["salt"][bucket], slot, 0)
    room = np.uint64(len(columns["total"]).bit_length())
    keys = (bucket.astype(np.uint64) << (np.uint64(64) - room)) | (random >> room)
    return bucket, slot[np.argsort(keys)]


def _draw(
    short: np.ndarray, columns: dict[str, np.ndarray], round_: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return buckets and numbers drawn with repetition, a bucket's in the order they count."""
    bucket, slot = _slots(short, (_DRAWS * columns["cap"][short]) << round_)
    random = mix(columns["salt"][bucket], slot, round_)
    return bucket, (random % columns["total"][bucket].astype(np.uint64)).astype(np.int64)


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
    _, distinct = np.unique(before[bucket] + number, return_index=True)
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
    columns: dict[str, np.ndarray], bucket: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the two items of a combination.

    Between two sides it is left · right_size + right; within one, right · (right - 1) / 2 + left
    with left < right; the root that gives `right` back is exact for fewer than 2^25 items.
    """
    width = columns["right_size"][bucket]
    right = ((1 + np.sqrt(8.0 * number + 1)) / 2).astype(np.int64)
    left = number - right * (right - 1) // 2
    start, other = columns["left"][bucket], columns["right"][bucket]
    across = np.flatnonzero(width)
    left += start
    right += start
    rows = number[across] // width[across]
    left[across] = start[across] + rows
    right[across] = other[across] + number[across] - rows * width[across]
    return left, right
