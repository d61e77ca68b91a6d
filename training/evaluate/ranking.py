"""What a system found for every mention: concepts in order, with scores, on disk or in hand."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spacy_bergamot.linking.candidates import CandidateGenerator, Found
from spacy_bergamot.text import normalize

_BATCH = 512  # mentions whose hits are in memory together

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
        of one name share it.
    names (list[str]): Those names. nil (bool): The system links the mention to nothing.
    """

    concepts: list[str]
    scores: list[float]
    name_ranks: list[int]
    names: list[str]
    nil: bool


class Named(NamedTuple):
    """The first name that names a concept: its rank from 0, its score and itself."""

    rank: int
    score: float
    name: str


def rank(
    generator: CandidateGenerator,
    mentions: Sequence[str],
    k: int,
    *,
    threshold: float | None = None,
) -> list[Ranked]:
    """Return the k best candidates of every mention, and what else the first k names name.

    So Acc@k over names can be told too. An ensemble ranks concepts, not names: there the rank of a
    name is that of its concept. Equal mentions are looked up once.

    threshold (float | None): Best score below which a mention is NIL; None: if nothing is found.
    """
    distinct = list(dict.fromkeys(mentions))
    results: dict[str, Ranked] = {}
    for start in range(0, len(distinct), _BATCH):
        batch = distinct[start : start + _BATCH]
        found = generator.find([(normalize(mention), "") for mention in batch], k=k)
        for mention, one in zip(batch, found, strict=True):
            results[mention] = _ranked(generator, one, k, threshold)
    return [results[mention] for mention in mentions]


def _ranked(generator: CandidateGenerator, found: Found, k: int, threshold: float | None) -> Ranked:
    candidates = [candidate for _, candidate in generator.rank(found, k=k)]
    entries = {c.concept_id: Named(n, c.score, c.alias) for n, c in enumerate(candidates)}
    if len(generator.ensemble.generators) == 1:
        for concept_id, named in _first_names(generator, found, k).items():
            if concept_id in entries or named.rank < k:
                entries[concept_id] = entries.get(concept_id, named)._replace(rank=named.rank)
    nil = not candidates or (threshold is not None and candidates[0].score < threshold)
    ranks, scores, names = zip(*entries.values(), strict=True) if entries else ((), (), ())
    return Ranked(list(entries), list(scores), list(ranks), list(names), nil)


def _first_names(generator: CandidateGenerator, found: Found, k: int) -> dict[str, Named]:
    """Return the first names of the concepts that were chosen, or that the first k names name."""
    table = generator.index.table
    results: dict[str, Named] = {}
    aliases = table.column("aliases", "alias")
    for chosen in found.parts.values():  # of one generator
        hits = chosen.allowed
        ranks = np.cumsum(np.diff(hits.strings, prepend=hits.strings[:1]) != 0)
        concepts, first = np.unique(hits.concepts, return_index=True)
        wanted = (ranks[first] < k) | np.isin(concepts, chosen.concepts)
        for place in np.sort(first[wanted]).tolist():
            name = aliases[hits.aliases[place]].as_py()
            named = Named(int(ranks[place]), float(hits.scores[place]), name)
            results[table.concept_id(hits.concepts[place])] = named
    return results


def to_table(ranked: Sequence[Ranked]) -> pa.Table:
    """Return ranked results as a table in the schema RANKED, one row per mention."""
    columns = {name: [getattr(entry, name) for entry in ranked] for name in RANKED.names}
    return pa.table(columns, schema=RANKED)


def from_table(table: pa.Table) -> list[Ranked]:
    """Return what `to_table` was given."""
    return [Ranked(*(row[name] for name in RANKED.names)) for row in table.to_pylist()]
