"""Positive pairs: two different names of one concept, capped per concept and bucket.

Pairs within a language form the bucket of that language; pairs across languages the bucket
`ENG|xxx`, or one bucket `CROSS`. A string may belong to several languages, but a pair of strings
belongs to one bucket only, the first that admits it: English, the other languages in alphabetical
order, then the buckets across languages likewise.

The combinations of a bucket are numbered, and numbers are drawn: a concept with 2,000 names has
two million pairs and costs no more than its caps.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import polars as pl

from spacy_bergamot.hashing import string_keys
from spacy_bergamot.ragged import ranges
from training.errors import BergamotError, Errors
from training.preprocess.hashing import mix

ENGLISH = "ENG"
CROSS = "CROSS"
_MAX_LANGUAGES = 63  # they are bits of an int64
_FEW = 8  # times the cap; a bucket with no more combinations than this has them all drawn
_SOME = 64  # combinations that are always few
_DRAWS = 4  # times the few; drawn of a bucket with more, as draws repeat or are another bucket's
_UNITS = 1 << 16  # names whose pairs are drawn at a time


@dataclass(frozen=True)
class Caps:
    """How many pairs per concept may give to a bucket, by the bucket's kind.

    RAISES (BergamotError): B037 if one is below zero.
    """

    english: int
    monolingual: int
    crosslingual: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0:
                setting = f"cap_{field.name}"
                raise BergamotError(Errors.B037, setting=setting, value=value, rule="at least 0")


def positive_pairs(
    units: pl.DataFrame,
    concepts: np.ndarray,
    *,
    caps: Caps,
    english_crosslingual_only: bool,
    seed: int,
) -> Iterator[tuple[np.ndarray, Counter[str]]]:
    """Yield a uniform sample, in random orientation, of the pairs of every bucket.

    units (pl.DataFrame): concept, language, name (id); distinct.
    concepts (uint64 (n,)): Stable hash of every concept; with seed and bucket it fixes the draw.
    YIELDS (tuple): Pairs, int32 (p, 3): concept, name, name, sorted by concept and bucket and in
        random order; and how many of them each bucket gave, all buckets in their order. A bucket
        of over 8 caps of combinations, of which less than one in thirty belongs to it, may give
        less than it has.
    """
    english_only = english_crosslingual_only
    languages = _ordered(units["language"].unique().to_list())
    labels = _labels(languages, caps, english_only=english_only)
    salts = mix(seed, string_keys(labels["bucket"]))
    codes = pl.col("language").cast(pl.Enum(languages)).to_physical().cast(pl.Int64)
    units = units.select("concept", "name", code=codes).sort("concept")
    concept = units["concept"].to_numpy()
    starts = np.unique(np.searchsorted(concept, concept[::_UNITS])).tolist()
    for start, end in pairwise([*starts, units.height]):
        items = _items(units[start:end], languages, english_only=english_only)
        buckets = _buckets(items, labels, english_only=english_only)
        states = mix(salts[buckets["label"]], concepts[buckets["concept"]])
        drawn = _drawn(buckets, items, states, len(languages), english_only=english_only)
        found = np.bincount(drawn["label"], minlength=labels.height)
        counts = Counter(dict(zip(labels["bucket"], found.tolist(), strict=True)))
        yield drawn.select("concept", "first", "second").to_numpy().astype(np.int32), counts


def _ordered(languages: Sequence[str]) -> list[str]:
    """Put English first and the others in alphabetical order; a language's code is its place.

    RAISES (BergamotError): T109 if there are over 63.
    """
    if len(languages) > _MAX_LANGUAGES:
        raise BergamotError(Errors.T109, found=len(languages), most=_MAX_LANGUAGES)
    return sorted(languages, key=lambda name: (name != ENGLISH, name))


def _labels(languages: list[str], caps: Caps, *, english_only: bool) -> pl.DataFrame:
    """Return bucket (name), cap and label (row).

    Buckets are the languages, and then `ENG|xxx` for each of them, or CROSS.
    """
    across = [f"{ENGLISH}|{name}" for name in languages] if english_only else [CROSS]
    within = [caps.english if name == ENGLISH else caps.monolingual for name in languages]
    names = pl.Series([*languages, *across], dtype=pl.String)
    limits = pl.Series([*within, *[caps.crosslingual] * len(across)], dtype=pl.Int64)
    table = pl.DataFrame({"bucket": names, "cap": limits})
    return table.with_row_index("label").with_columns(pl.col("label").cast(pl.Int64))


def _items(units: pl.DataFrame, languages: list[str], *, english_only: bool) -> pl.DataFrame:
    """Return what buckets draw from: concept, code, name, and bits: all languages of the string.

    Without `english_only` every string of a concept is there once more, under the code after the
    last language's.
    """
    bit = pl.Series(np.left_shift(1, units["code"].to_numpy()))
    items = units.with_columns(bits=bit).with_columns(pl.col("bits").sum().over("concept", "name"))
    if not english_only:
        again = items.unique(["concept", "name"])
        items = pl.concat([items, again.with_columns(code=pl.lit(len(languages), pl.Int64))])
    return items.sort("concept", "code", "name")


def _buckets(items: pl.DataFrame, labels: pl.DataFrame, *, english_only: bool) -> pl.DataFrame:
    """Return the buckets that have combinations and a cap, sorted by concept and label.

    RETURNS (pl.DataFrame): concept, label, cap; left, right, where the items of either side start;
        width, how many the right side has, or 0 if the combinations are the unordered pairs of the
        left side's; total, how many combinations there are.
    """
    sides = (
        items.with_row_index("left")
        .group_by("concept", "code", maintain_order=True)
        .agg(pl.col("left").first().cast(pl.Int64), size=pl.len().cast(pl.Int64))
    )
    size = pl.col("size")
    buckets = sides.select(
        "concept",
        "left",
        label="code",
        right="left",
        width=pl.lit(0, pl.Int64),
        total=size * (size - 1) // 2,
    )
    if english_only and labels["bucket"][0] == ENGLISH:
        english = sides.filter(pl.col("code") == 0)
        others = sides.filter(pl.col("code") > 0).join(english, on="concept", suffix="_english")
        across = others.select(
            "concept",
            left="left_english",
            label=pl.col("code") + labels.height // 2,
            right="left",
            width="size",
            total=size * pl.col("size_english"),
        )
        buckets = pl.concat([buckets, across])
    buckets = buckets.join(labels, on="label")
    return buckets.filter(pl.col("total") > 0, pl.col("cap") > 0).sort("concept", "label")


def _drawn(
    buckets: pl.DataFrame,
    items: pl.DataFrame,
    states: np.ndarray,
    languages: int,
    *,
    english_only: bool,
) -> pl.DataFrame:
    """Return concept, label, first and second (names) of the pairs that are drawn, in order.

    Of a bucket with few combinations all are candidates, of the others some that are drawn with
    repetition. Candidates of other buckets and repeated ones fall out; the first `cap` stay, in an
    order that hashes give.

    states (uint64): Of every bucket, what fixes its draws.
    languages (int): How many there are.
    """
    few = np.maximum(_FEW * buckets["cap"].to_numpy(), _SOME)
    total = buckets["total"].to_numpy()
    sizes = np.where(total <= few, total, _DRAWS * few)
    bucket = np.repeat(np.arange(len(sizes)), sizes)
    number = ranges(np.zeros_like(sizes), sizes)
    many = np.flatnonzero((total > few)[bucket])
    random = mix(states[bucket[many]], number[many], 0)
    number[many] = random % total[bucket[many]].astype(np.uint64)
    left, right = _unrank(buckets[bucket], number)
    names, bits = items["name"].to_numpy(), items["bits"].to_numpy()
    label = _first_label(bits[left], bits[right], languages, english_only=english_only)
    mine = np.flatnonzero(label == buckets["label"].to_numpy()[bucket])
    bucket, number, left, right = (column[mine] for column in (bucket, number, left, right))
    hashes = mix(states[bucket], number)
    turned = (hashes & np.uint64(1)).astype(bool)
    drawn = pl.DataFrame(
        {
            "bucket": bucket,
            "order": mix(hashes),
            "number": number,
            "first": np.where(turned, names[right], names[left]),
            "second": np.where(turned, names[left], names[right]),
        }
    ).sort("bucket", "order", "number")
    key = pl.col("bucket", "number")
    drawn = drawn.filter(pl.any_horizontal(key.ne_missing(key.shift())))
    bucket = drawn["bucket"].to_numpy()
    place = np.arange(len(bucket)) - np.searchsorted(bucket, bucket)
    facts = buckets.select("concept", "label", "cap")[bucket]
    return drawn.hstack(facts).filter(pl.Series(place) < pl.col("cap"))


def _unrank(buckets: pl.DataFrame, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the two items of combinations.

    Between two sides a combination is left · width + right; within one right · (right - 1) / 2 +
    left with left < right, whose root is exact for fewer than 2^25 items.

    buckets (pl.DataFrame): Of every number its bucket.
    """
    width = buckets["width"].to_numpy()
    root = (np.sqrt(2.0 * number + 0.25) + 0.5).astype(np.int64)
    left, right = np.divmod(number, np.maximum(width, 1))
    left = np.where(width > 0, left, number - root * (root - 1) // 2)
    right = np.where(width > 0, right, root)
    return left + buckets["left"].to_numpy(), right + buckets["right"].to_numpy()


def _first_label(
    left: np.ndarray, right: np.ndarray, languages: int, *, english_only: bool
) -> np.ndarray:
    """Return the label of the first bucket that admits pairs of strings with these languages.

    left, right (int64): Bits of languages; where they have none in common and `english_only`
        holds, English is the left one's.
    """
    common = left & right
    across = languages + (_lowest(right) if english_only else 0)
    return np.where(common > 0, _lowest(common), across)


def _lowest(bits: np.ndarray) -> np.ndarray:
    """Return the place of the lowest bit that is set; powers of two have exact logarithms."""
    return np.log2(np.maximum(bits & -bits, 1)).astype(np.int64)
