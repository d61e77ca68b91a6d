"""What a system found for every mention: concepts in order, with scores, on disk or in hand."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from training.evaluate.dictionary import Dictionary
from training.evaluate.retrievers import Retriever

RANKED = pa.schema(
    [
        ("concepts", pa.list_(pa.string())),
        ("scores", pa.list_(pa.float32())),
        ("name_ranks", pa.list_(pa.int32())),
        ("names", pa.list_(pa.large_string())),
        ("nil", pa.bool_()),
    ]
)


class Ranked(NamedTuple):
    """Distinct concepts of one mention, best first.

    name_ranks (list[int]): Rank from 0 of the first name that names the concept; several concepts
        of one name share it, and stand in order of their id.
    names (list[str]): Those names. nil (bool): The system links the mention to nothing.
    """

    concepts: list[str]
    scores: list[float]
    name_ranks: list[int]
    names: list[str]
    nil: bool


def rank(
    retriever: Retriever,
    mentions: Sequence[str],
    dictionary: Dictionary,
    k: int,
    *,
    threshold: float | None = None,
) -> list[Ranked]:
    """Return at least k distinct concepts a mention where there are so many.

    Names are fetched until k concepts are there; all concepts of the first k names are kept, so
    that Acc@k over names can be told too. Equal mentions are looked up once.

    threshold (float | None): Best score below which a mention is NIL; None: if nothing is found.
    """
    distinct = list(dict.fromkeys(mentions))
    results: dict[str, Ranked] = {}
    open_mentions, fetch = distinct, 4 * k
    while open_mentions:
        found = retriever.find(open_mentions, fetch)
        unfinished = []
        for mention, rows, scores in zip(open_mentions, *found, strict=True):
            ranked = _distinct(dictionary, rows, scores, k, threshold)
            results[mention] = ranked
            if len(ranked.concepts) < k and rows[-1] >= 0 and fetch < len(dictionary):
                unfinished.append(mention)
        open_mentions, fetch = unfinished, min(4 * fetch, len(dictionary))
    return [results[mention] for mention in mentions]


def _distinct(
    dictionary: Dictionary, rows: np.ndarray, scores: np.ndarray, k: int, threshold: float | None
) -> Ranked:
    first: dict[str, int] = {}
    for number, row in enumerate(rows.tolist()):
        if row < 0 or (number >= k and len(first) >= k):
            break
        for concept in dictionary.concepts[row]:
            first.setdefault(concept, number)
    ranks = list(first.values())
    names = [dictionary.names[rows[number]] for number in ranks]
    values = [float(scores[number]) for number in ranks]
    nil = not values or (threshold is not None and values[0] < threshold)
    return Ranked(list(first), values, ranks, names, nil)


def to_table(ranked: Sequence[Ranked]) -> pa.Table:
    """Return ranked results as a table in the schema RANKED, one row a mention."""
    columns = {name: [getattr(entry, name) for entry in ranked] for name in RANKED.names}
    return pa.table(columns, schema=RANKED)


def from_table(table: pa.Table) -> list[Ranked]:
    """Return what `to_table` was given."""
    return [Ranked(*(row[name] for name in RANKED.names)) for row in table.to_pylist()]
