"""Acc@k over names and over concepts, per group and on average."""

from collections import defaultdict

import numpy as np

from training.evaluate.dictionary import Dictionary
from training.evaluate.readers import Query
from training.evaluate.retrievers import Retriever

KS = (1, 5)


def evaluate(
    retriever: Retriever, queries: list[Query], dictionary: Dictionary, *, ks: tuple[int, ...] = KS
) -> dict[str, dict[str, float]]:
    """Return {group: {"n", "acc@k" over concepts, "acc@k_names" over names}}, in percent.

    A hit is a gold concept among the top k distinct concepts, or among the concepts of the top k
    names (SapBERT's script). The group "micro" is over all queries, "macro" over the groups.
    """
    hits: dict[str, list[list[bool]]] = defaultdict(list)
    ranked = _ranked_concepts(retriever, queries, dictionary, max(ks))
    for query, (concepts, rows) in zip(queries, ranked, strict=True):
        row = [bool(query.concept_ids.intersection(concepts[:k])) for k in ks]
        for k in ks:
            named = {c for name in rows[:k] if name >= 0 for c in dictionary.concepts[name]}
            row.append(bool(query.concept_ids & named))
        hits[query.group].append(row)
    columns = [f"acc@{k}" for k in ks] + [f"acc@{k}_names" for k in ks]
    table = {group: _shares(columns, rows) for group, rows in sorted(hits.items())}
    if table:
        macro = {c: float(np.mean([row[c] for row in table.values()])) for c in columns}
        everything = [row for rows in hits.values() for row in rows]
        table |= {"macro": {"n": len(queries), **macro}, "micro": _shares(columns, everything)}
    return table


def _ranked_concepts(
    retriever: Retriever, queries: list[Query], dictionary: Dictionary, k: int
) -> list[tuple[list[str], np.ndarray]]:
    """Return k distinct concepts and the names' rows of every query, fetching until k are there."""
    mentions = [query.mention for query in queries]
    results: list[tuple[list[str], np.ndarray] | None] = [None] * len(queries)
    open_rows, fetch = list(range(len(queries))), 4 * k
    while open_rows:
        found = retriever.search([mentions[row] for row in open_rows], fetch)
        unfinished = []
        for row, names in zip(open_rows, found, strict=True):
            concepts = dictionary.distinct_concepts(names, k)
            results[row] = (concepts, names)
            if len(concepts) < k and names[-1] >= 0 and fetch < len(dictionary):
                unfinished.append(row)
        open_rows, fetch = unfinished, min(4 * fetch, len(dictionary))
    return [result for result in results if result is not None]


def _shares(columns: list[str], rows: list[list[bool]]) -> dict[str, float]:
    shares = 100 * np.asarray(rows, dtype=float).mean(0)
    return {"n": len(rows), **dict(zip(columns, map(float, shares), strict=True))}
