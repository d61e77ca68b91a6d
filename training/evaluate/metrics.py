"""Acc@k over names and over concepts, per group and on average; NIL; credit for near misses."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.linking.candidates import CandidateGenerator
from training.corpora.marks import OPEN
from training.corpora.schema import GoldMention
from training.errors import check_choice
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.ranking import Ranked, rank
from training.evaluate.statistics import bootstrap_interval

KS = (1, 5)
COUNTING = "way to count several golds:"
GOLDS = ("any", "all", "annotated", "each", "each_shifted")
NEVER = np.iinfo(np.int32).max
"""The rank of a gold concept that was not found."""

Table = dict[str, dict[str, float]]


class GoldRanks(NamedTuple):
    """Ranks from 0 of gold concepts, NEVER where they were not found.

    owner (int64 (m,)): Row of every entry's query. concept (int64 (m,)): Among distinct concepts.
    name (int64 (m,)): Of the first name that names the concept.
    """

    owner: np.ndarray
    concept: np.ndarray
    name: np.ndarray


def gold_ranks(
    queries: Sequence[GoldMention], ranked: Sequence[Ranked], golds: str = "any"
) -> GoldRanks:
    """Return the ranks of the gold concepts of every query that has some.

    golds (str): Of several gold concepts, "any" counts by the best rank (SapBERT, XL-BEL), "all"
        by the worst, "annotated" by the worst where the annotation means all of them, "each" as an
        entry of its own, and "each_shifted" likewise (xMEN): of the golds at one place in a
        document, in the order of mentions and ids, the second is looked for from the second
        concept on, and so on, so that all of them can be first.
    RAISES (BergamotError): B014 for another word.
    """
    check_choice(COUNTING, golds, GOLDS)
    entries = []
    place, taken = None, 0  # of a mention whose place in a document is known
    for number, (query, found) in enumerate(zip(queries, ranked, strict=True)):
        if not query.concepts:
            continue
        places = {concept: place for place, concept in enumerate(found.concepts)}
        pairs = [
            (places[c], found.name_ranks[places[c]]) if c in places else (NEVER, NEVER)
            for c in sorted(query.concepts)
        ]
        if golds.startswith("each"):
            own = (query.group, query.document, query.context)
            place, before = own if query.document and OPEN in query.context else None, place
            taken = taken if place is not None and place == before else 0
            if golds == "each_shifted":
                pairs = [(_shifted(c, taken + at), n) for at, (c, n) in enumerate(pairs)]
            taken += len(pairs)
            entries += [(number, *pair) for pair in pairs]
            continue
        every = golds == "all" or (golds == "annotated" and query.all_of)
        choose: Callable = max if every else min
        entries.append((number, choose(p for p, _ in pairs), choose(n for _, n in pairs)))
    return GoldRanks(*np.array(entries, dtype=np.int64).reshape(-1, 3).T)


def _shifted(rank: int, by: int) -> int:
    """Return the rank in a list without its first ones."""
    return NEVER if rank == NEVER or rank < by else rank - by


def group_masks(queries: Sequence[GoldMention], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return which of some rows of the queries are of each group; of "micro" are all of them."""
    groups = np.array([queries[row].group for row in rows.tolist()], dtype=object)
    masks = {group: groups == group for group in sorted(set(groups))}
    return masks | {"micro": np.ones(len(rows), dtype=bool)}


def documents_of(queries: Sequence[GoldMention], rows: np.ndarray) -> np.ndarray:
    """Return a number for the document of every row (int (n,)) of the queries.

    A mention whose document is not known counts as one of its own.
    """
    numbers: dict[tuple[str, str] | int, int] = {}
    return np.array(
        [
            numbers.setdefault(
                (queries[row].group, queries[row].document) if queries[row].document else row,
                len(numbers),
            )
            for row in rows.tolist()
        ],
        dtype=np.int64,
    )


def evaluate(generator: CandidateGenerator, queries: Sequence[GoldMention]) -> Table:
    """Rank the concepts for every query and tabulate them; see `tabulate`."""
    return tabulate(queries, rank(generator, [query.mention for query in queries], max(KS)))


def tabulate(
    queries: Sequence[GoldMention],
    ranked: Sequence[Ranked],
    *,
    ks: tuple[int, ...] = KS,
    golds: str = "any",
    hierarchy: Hierarchy | None = None,
    samples: int = 0,
    group_of: Callable[[GoldMention], str] = lambda query: query.group,
) -> Table:
    """Return {group: {"n", "acc@k" over concepts, "acc@k_names" over names, "mrr"}}, in percent.

    A hit is a gold concept among the top k distinct concepts, or among the concepts of the top k
    names (SapBERT's script). The group "micro" is over all queries, "macro" over the groups.

    hierarchy (Hierarchy | None): Adds "acc@1_tree": the mean credit of the first concept.
    samples (int): Bootstrap samples, of whole documents where they are known, of the 95 % intervals
        "acc@1_low" to "acc@1_high", and of acc@5 if 5 is among `ks`; 0 for none.
    """
    owner, concept, name = gold_ranks(queries, ranked, golds)
    columns = {f"acc@{k}": (concept < k).astype(float) for k in ks}
    columns |= {f"acc@{k}_names": (name < k).astype(float) for k in ks}
    columns["mrr"] = np.where(concept < NEVER, 1 / (1.0 + concept), 0.0)
    if hierarchy is not None:
        columns["acc@1_tree"] = np.array(
            [_credit(hierarchy, queries[row], ranked[row]) for row in owner.tolist()]
        )
    groups = np.array([group_of(queries[row]) for row in owner.tolist()], dtype=object)
    documents = documents_of(queries, owner)
    table: Table = {
        group: _shares(columns, groups == group, documents, samples)
        for group in sorted(set(groups))
    }
    if table:
        macro = {c: float(np.mean([row[c] for row in table.values()])) for c in columns}
        micro = _shares(columns, np.ones(len(owner), dtype=bool), documents, samples)
        table |= {"macro": {"n": len(owner), **macro}, "micro": micro}
    return table


def nil_scores(queries: Sequence[GoldMention], ranked: Sequence[Ranked]) -> dict[str, float | None]:
    """Return precision and recall of NIL in percent, None where nothing was found or is to find."""
    gold = np.array([not query.concepts for query in queries], dtype=bool)
    said = np.array([found.nil for found in ranked], dtype=bool)
    both = int((gold & said).sum())
    counts = {"nil_gold": int(gold.sum()), "nil_predicted": int(said.sum())}
    precision = 100 * both / said.sum() if said.any() else None
    recall = 100 * both / gold.sum() if gold.any() else None
    return {**counts, "nil_p": precision, "nil_r": recall}


def index_loss(
    exact: Sequence[Ranked], indexed: Sequence[Ranked], ks: tuple[int, ...] = (1, 10)
) -> dict[str, float]:
    """Return the share, in percent, of exact search's first k concepts that the index found too."""
    totals: dict[str, list[float]] = defaultdict(list)
    for truth, found in zip(exact, indexed, strict=True):
        for k in ks:
            best = set(truth.concepts[:k])
            if best:
                totals[f"kept@{k}"].append(len(best & set(found.concepts[:k])) / len(best))
    return {name: 100 * float(np.mean(values)) for name, values in totals.items()}


def _credit(hierarchy: Hierarchy, query: GoldMention, found: Ranked) -> float:
    if not found.concepts:
        return 0.0
    return max(hierarchy.credit(found.concepts[0], gold) for gold in query.concepts)


def _shares(
    columns: dict[str, np.ndarray], rows: np.ndarray, documents: np.ndarray, samples: int
) -> dict[str, float]:
    shares = {"n": int(rows.sum())}
    values = {name: 100 * float(column[rows].mean()) for name, column in columns.items()}
    for name in [f"acc@{k}" for k in KS if samples and f"acc@{k}" in columns]:
        low, high = bootstrap_interval(columns[name][rows], documents[rows], samples=samples)
        values |= {f"{name}_low": 100 * low, f"{name}_high": 100 * high}
    return {**shares, **values}
