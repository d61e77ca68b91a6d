"""Scores of linking: on gold mentions, over candidates, and end to end."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.pipeline import EntityLinker
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_bergamot.linking.spans import spans_of

_KS = (1, 5, 10)


def make_linker_scorer() -> Callable:
    """Return `score_linking`, for the registry."""
    return score_linking


def score_linking(
    examples: Iterable[Example], *, spans_key: str | None = None, **kwargs: Any
) -> dict[str, Any]:
    """Score predicted links against gold ones.

    Gold mentions are reference entities with a kb id; of `C1|C2` either is right. A predicted
    mention belongs to the gold one with the same characters.

    examples (Iterable[Example]): Predicted and reference documents.
    spans_key (str | None): Mentions are `doc.spans[spans_key]`; None for `doc.ents`.
    kwargs (Any): What else spaCy hands to scorers; unused.
    RETURNS (dict): spaCy's `nel_*` scores (mentions that were not found are ignored there, and
        alternatives count as another concept); link_accuracy and link_recall@k over the gold
        mentions that were found and have a concept; link_mrr; link_nil_p, link_nil_r;
        link_end_to_end_p, _r, _f on (characters, concept), where missed mentions count.
    """
    examples = list(examples)
    scores: dict[str, Any] = {}
    if spans_key is None:
        scores.update(Scorer.score_links(examples, negative_labels=[EntityLinker.NIL]))
    ranks: list[int | None] = []
    nil = {"both": 0, "predicted": 0, "gold": 0}
    found = predicted = gold = 0
    for example in examples:
        golds = _links(example.reference, spans_key)
        guesses = _links(example.predicted, spans_key)
        candidates = _candidates(example.predicted, spans_key)
        linked = {place: c for place, c in golds.items() if c != EntityLinker.NIL}
        proposed = {place: c for place, c in guesses.items() if c != EntityLinker.NIL}
        found += sum(proposed.get(place) in ids.split("|") for place, ids in linked.items())
        gold, predicted = gold + len(linked), predicted + len(proposed)
        for place in golds.keys() & guesses.keys():
            is_nil = golds[place] == EntityLinker.NIL
            guessed_nil = guesses[place] == EntityLinker.NIL
            nil["gold"] += is_nil
            nil["predicted"] += guessed_nil
            nil["both"] += is_nil and guessed_nil
            if not is_nil:
                ranks.append(_rank(candidates.get(place, []), golds[place]))
    scores.update(_rank_scores(ranks))
    scores["link_nil_p"] = _share(nil["both"], nil["predicted"])
    scores["link_nil_r"] = _share(nil["both"], nil["gold"])
    precision, recall = _share(found, predicted), _share(found, gold)
    scores["link_end_to_end_p"], scores["link_end_to_end_r"] = precision, recall
    both = (precision or 0) + (recall or 0)
    scores["link_end_to_end_f"] = 2 * (precision or 0) * (recall or 0) / both if both else 0.0
    return scores


def _rank_scores(ranks: list[int | None]) -> dict[str, float | None]:
    hits = {k: sum(rank is not None and rank < k for rank in ranks) for k in _KS}
    scores = {f"link_recall@{k}": _share(hits[k], len(ranks)) for k in _KS}
    reciprocal = sum(1 / (rank + 1) for rank in ranks if rank is not None)
    scores["link_accuracy"] = scores["link_recall@1"]
    scores["link_mrr"] = reciprocal / len(ranks) if ranks else None
    return scores


def _links(doc: Doc, spans_key: str | None) -> dict[tuple[int, int], str]:
    """Return the concept id of every linked mention by its characters."""
    spans = spans_of(doc, spans_key)
    return {(span.start_char, span.end_char): span.kb_id_ for span in spans if span.kb_id_}


def _candidates(doc: Doc, spans_key: str | None) -> dict[tuple[int, int], list[str]]:
    return {
        (span.start_char, span.end_char): [c["concept_id"] for c in span._.candidates or []]
        for span in spans_of(doc, spans_key)
    }


def _rank(candidates: list[str], gold: str) -> int | None:
    ranks = [candidates.index(id) for id in gold.split("|") if id in candidates]
    return min(ranks, default=None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
