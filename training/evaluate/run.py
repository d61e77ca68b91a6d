"""An evaluation: sets are read, protocols applied, systems run, results written."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.device import resolve_precision
from spacy_bergamot.encoder.text_encoder import fingerprint
from spacy_bergamot.kb.concept_table import ConceptTable
from training.corpora.dictionary import Dictionary
from training.corpora.queries import gold_mentions, read_queries, skipped
from training.corpora.schema import Corpus, GoldMention
from training.errors import BergamotError, Errors, check_choice
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.protocols import membership
from training.evaluate.results import Choices, Results, write
from training.evaluate.systems import Systems, rank_all

OUT_OF_KB = ("drop", "miss", "nil")


def run_evaluation(
    dictionary_path: Path,
    sets: Sequence[tuple[str, Path]],
    folder: Path,
    systems: Systems,
    *,
    choices: Choices | None = None,
    train: Path | None = None,
    concepts: Path | None = None,
) -> dict[str, Any]:
    """Evaluate every system on every set, write the ranked results, return the figures.

    sets (Sequence[tuple[str, Path]]): Name and path; an empty name keeps the corpora's own.
    folder (Path): Gets the ranked results; see `results`.
    train (Path | None): Training queries, for the protocols that need them.
    concepts (Path | None): Concept table, for credit by distance in its graph.
    RAISES (BergamotError): T306 if no mention is left; B014 for an unknown word in the choices.
    """
    choices = choices or Choices()
    dictionary = Dictionary.read(dictionary_path)
    corpora = _read_sets(sets)
    queries, outside = within(gold_mentions(corpora), dictionary, choices.out_of_kb)
    known = gold_mentions(read_queries(train)) if train is not None else None
    members = {
        name: membership(queries, dictionary, name, train=known) for name in choices.protocols
    }
    for name, flags in members.items():
        if not any(q.concepts for q, counts in zip(queries, flags, strict=True) if counts):
            paths = ", ".join(str(path) for _, path in sets)
            raise BergamotError(Errors.T306, path=paths, protocol=name)
    noted: dict[str, dict[str, Any]] = {}  # filled while the pipelines run
    facts = {
        "dictionary": {"names": len(dictionary), "concepts": len(dictionary.concept_ids)},
        "skipped": {**skipped(corpora), "gold not in the dictionary": outside},
        "lms": {name: fingerprint(path) for name, path in systems.lms.items()},
        "precision": resolve_precision(systems.precision, systems.device),
        "pipelines": noted,
    }
    ranked = rank_all(
        systems, queries, dictionary, k=choices.k, threshold=choices.threshold, noted=noted
    )
    write(folder, queries, members, ranked, choices, facts)
    hierarchy = Hierarchy(ConceptTable.open(concepts)) if concepts is not None else None
    return Results.open(folder).figures(hierarchy)


def within(
    queries: Sequence[GoldMention], dictionary: Dictionary, out_of_kb: str
) -> tuple[list[GoldMention], int]:
    """Return the queries that count, and of how many the dictionary has no gold concept.

    out_of_kb (str): What becomes of those; see `Choices`.
    """
    check_choice("way to treat golds out of the dictionary:", out_of_kb, OUT_OF_KB)
    kept, outside = [], 0
    for query in queries:
        if not query.concepts or query.concepts & dictionary.concept_ids:
            kept.append(query)
            continue
        outside += 1
        if out_of_kb == "nil":
            kept.append(replace(query, concepts=frozenset()))
        elif out_of_kb == "miss":
            kept.append(query)
    return kept, outside


def _read_sets(sets: Sequence[tuple[str, Path]]) -> list[Corpus]:
    """Read the sets; the corpora of one that has a name are called by it."""
    whole = []
    for name, path in sets:
        corpora = read_queries(path, nil=True)
        if name:
            several = sum(corpus.mentions.num_rows > 0 for corpus in corpora) > 1
            corpora = [
                replace(corpus, name=f"{name}/{corpus.name}" if several else name)
                for corpus in corpora
            ]
        whole += corpora
    return whole
