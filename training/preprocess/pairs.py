"""Positive pairs: two different names of one concept, capped per concept and language bucket.

Buckets are one language each, and for pairs across languages either `ENG|xxx` or one `CROSS`.
Every bucket is a numbered list of combinations. A bucket over its cap is sampled by drawing
numbers, so that a concept with 2,000 names costs no more than its cap.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from training.preprocess.hashing import mix

ENGLISH = "ENG"
_ENUMERATE = 8  # a bucket of up to 8 caps is written out, a larger one is drawn from
_ROUNDS = 32


@dataclass(frozen=True)
class Caps:
    """Pairs kept per concept and bucket."""

    english: int = 50
    monolingual: int = 50
    crosslingual: int = 50


@dataclass(frozen=True)
class Buckets:
    """Buckets of one kind, one a row.

    kind (str): "mono", "rectangle" (one language against another) or "triangle" (all of CROSS).
    concept (int64 (b,)): Concept row.
    first, first_size (int64 (b,)): Where the units of the first side start, and how many.
    second, second_size (int64 (b,)): Of the second side; the first again for triangles.
    label (int64 (b,)): Index into the names of the buckets.
    """

    kind: str
    concept: np.ndarray
    first: np.ndarray
    first_size: np.ndarray
    second: np.ndarray
    second_size: np.ndarray
    label: np.ndarray

    @property
    def totals(self) -> np.ndarray:
        """Combinations of every bucket."""
        if self.kind == "rectangle":
            return self.first_size * self.second_size
        return self.first_size * (self.first_size - 1) // 2

    def rows(self, bucket: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the units of the given combinations of the given buckets."""
        if self.kind == "rectangle":
            left, right = np.divmod(number, self.second_size[bucket])
        else:
            right = ((1 + np.sqrt(8.0 * number + 1)) / 2).astype(np.int64)
            right -= right * (right - 1) // 2 > number  # the root rounds for large numbers
            right += right * (right + 1) // 2 <= number
            left = number - right * (right - 1) // 2
        return self.first[bucket] + left, self.second[bucket] + right


def positive_pairs(
    units: pl.DataFrame,
    concepts: np.ndarray,
    *,
    caps: Caps,
    english_crosslingual_only: bool = True,
    seed: int = 0,
) -> tuple[np.ndarray, dict[str, int]]:
    """Return pairs, int32 (p, 3): concept, name, name; and how many each bucket gave.

    units (pl.DataFrame): concept, language, name, sorted by them.
    concepts (uint64 (n,)): Stable hash of every concept, which the draws depend on.
    """
    names = units["name"].to_numpy()
    languages = units["language"].to_numpy()
    groups = _groups(units)
    labels: list[str] = []
    parts: list[np.ndarray] = []
    for buckets, cap in _all_buckets(groups, caps, english_crosslingual_only, labels):
        language = languages if buckets.kind == "triangle" else None
        parts.append(_sample(buckets, cap, names, language, concepts, seed=seed))
    drawn = np.concatenate(parts) if parts else np.empty((0, 4), dtype=np.int64)
    drawn = _once_per_concept(drawn)
    found = np.bincount(drawn[:, 1], minlength=len(labels))
    counts = {label: int(n) for label, n in zip(labels, found, strict=True) if n}
    return drawn[:, [0, 2, 3]].astype(np.int32), dict(sorted(counts.items()))


def _groups(units: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, start and size of every run of units."""
    rows = units.with_row_index("row").group_by("concept", "language", maintain_order=True)
    return rows.agg(
        start=pl.col("row").min().cast(pl.Int64), size=pl.col("row").len().cast(pl.Int64)
    )


def _all_buckets(
    groups: pl.DataFrame, caps: Caps, english_only: bool, labels: list[str]
) -> Iterator[tuple[Buckets, int]]:
    """Yield the buckets by kind with their cap; append the buckets' names to `labels`."""
    english = groups.filter(pl.col("language") == ENGLISH)
    others = groups.filter(pl.col("language") != ENGLISH)
    for frame, cap in ((english, caps.english), (others, caps.monolingual)):
        yield _make("mono", frame, frame, frame["language"].to_list(), labels), cap
    if english_only:
        both = others.join(english, on="concept", suffix="_eng")
        renamed = {"start_eng": "start", "size_eng": "size"}
        first = both.select("concept", *renamed).rename(renamed)
        named = [f"{ENGLISH}|{language}" for language in both["language"].to_list()]
        yield _make("rectangle", first, both, named, labels), caps.crosslingual
    else:
        whole = groups.group_by("concept", maintain_order=True).agg(
            pl.col("start").min(), pl.col("size").sum(), n=pl.len()
        )
        whole = whole.filter(pl.col("n") > 1)
        yield _make("triangle", whole, whole, ["CROSS"] * len(whole), labels), caps.crosslingual


def _make(
    kind: str, first: pl.DataFrame, second: pl.DataFrame, named: list[str], labels: list[str]
) -> Buckets:
    labels.extend(sorted(set(named) - set(labels)))
    number = {label: index for index, label in enumerate(labels)}
    return Buckets(
        kind,
        second["concept"].to_numpy().astype(np.int64),
        first["start"].to_numpy(),
        first["size"].to_numpy(),
        second["start"].to_numpy(),
        second["size"].to_numpy(),
        np.array([number[label] for label in named], dtype=np.int64),
    )


def _sample(
    buckets: Buckets,
    cap: int,
    names: np.ndarray,
    languages: np.ndarray | None,
    concepts: np.ndarray,
    *,
    seed: int,
) -> np.ndarray:
    """Return up to `cap` allowed pairs of every bucket: concept, label, name, name, in draw order.

    A round draws 8 caps of combination numbers, without order and with repetition; what repeats or
    is not allowed falls out, the first `cap` stay, and buckets that are short draw again.
    """
    totals = buckets.totals
    salt = mix(seed, concepts[buckets.concept], buckets.label)
    kept = np.empty((0, 4), dtype=np.int64)
    owners = np.empty(0, dtype=np.int64)
    short = np.flatnonzero(totals > 0) if cap else np.empty(0, dtype=np.int64)
    for round_ in range(_ROUNDS):
        if not len(short):
            break
        bucket, number = _draw(short, totals, cap, salt, round_)
        rows = buckets.rows(bucket, number)
        allowed = names[rows[0]] != names[rows[1]]
        if languages is not None:
            allowed &= languages[rows[0]] != languages[rows[1]]
        bucket, left, right = bucket[allowed], names[rows[0][allowed]], names[rows[1][allowed]]
        swap = (mix(salt[bucket], number[allowed], 2) & np.uint64(1)).astype(bool)
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        fresh = np.stack([buckets.concept[bucket], buckets.label[bucket], left, right], axis=1)
        owners, kept = np.concatenate([owners, bucket]), np.concatenate([kept, fresh])
        owners, kept = _first_distinct(owners, kept, cap)
        counts = np.bincount(owners, minlength=len(totals))
        short = short[(counts[short] < cap) & (totals[short] > _ENUMERATE * cap)]
    return kept


def _draw(
    short: np.ndarray, totals: np.ndarray, cap: int, salt: np.ndarray, round_: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return buckets and combination numbers: all of a small bucket in random order, or draws."""
    sizes = np.minimum(totals[short], _ENUMERATE * cap)
    bucket = np.repeat(short, sizes)
    slot = np.arange(len(bucket)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    draws = mix(salt[bucket], slot, round_)
    small = totals[bucket] <= _ENUMERATE * cap
    number = np.where(small, slot, (draws % totals[bucket].astype(np.uint64)).astype(np.int64))
    order = np.lexsort([np.where(small, draws, slot), bucket])
    return bucket[order], number[order]


def _first_distinct(
    owners: np.ndarray, pairs: np.ndarray, cap: int
) -> tuple[np.ndarray, np.ndarray]:
    """Keep each bucket's first `cap` distinct unordered pairs, in draw order."""
    low, high = np.minimum(pairs[:, 2], pairs[:, 3]), np.maximum(pairs[:, 2], pairs[:, 3])
    keys = np.stack([owners, low, high], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    first = np.sort(first)
    first = first[np.argsort(owners[first], kind="stable")]
    ordered = owners[first]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    chosen = first[rank < cap]
    return owners[chosen], pairs[chosen]


def _once_per_concept(drawn: np.ndarray) -> np.ndarray:
    """Sort by concept and bucket, and keep an unordered pair of strings once a concept."""
    order = np.argsort(drawn[:, 0], kind="stable")
    drawn = drawn[order]
    low, high = np.minimum(drawn[:, 2], drawn[:, 3]), np.maximum(drawn[:, 2], drawn[:, 3])
    _, first = np.unique(np.stack([drawn[:, 0], low, high], axis=1), axis=0, return_index=True)
    return drawn[np.sort(first)]
