"""A spaCy pipeline under evaluation: its linker is asked for mentions in their context."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spacy_bergamot.text import normalize
from training.corpora.marks import split_marked
from training.corpora.schema import GoldMention
from training.evaluate.ranking import Ranked

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from spacy_bergamot.pipeline.linker import BergamotLinker


def rank_with_pipeline(
    path: str,
    queries: Sequence[GoldMention],
    k: int,
    *,
    held_out: bool = False,
    noted: dict[str, Any] | None = None,
) -> list[Ranked]:
    """Link mentions with a pipeline's `bergamot_linker`, in their context where it has one.

    A candidate's name rank is its rank: a pipeline shows concepts, not names.

    held_out (bool): Remove the mentions from the names of their gold concepts first, in memory.
    noted (dict | None): Gets the fingerprints `lm` and `index`, as `hidden` how many names were
        removed, and as `own` the share of the mentions, in percent, that are names of the
        pipeline's knowledge base.
    RAISES (BergamotError): B046 if there is no such pipeline, B047 if it has no linker.
    """
    from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline

    nlp = load_pipeline(path, k=k)
    linker, _ = linker_of(nlp)
    hidden = _hidden(linker, queries) if held_out else []
    if hidden:
        linker.update_index(hidden)
    if noted is not None:
        noted |= {**_about(linker, queries), "hidden": len(hidden)}
    key = linker.settings.spans_key
    docs = (_document(nlp, query, key) for query in queries)
    return [_of_span(doc.spans[key][0] if key else doc.ents[0]) for doc in linker.pipe(docs)]


def _hidden(linker: "BergamotLinker", queries: Sequence[GoldMention]) -> list[dict[str, str]]:
    """Return the removal of every mention from the names of its gold concepts."""
    names = linker.kb.alias_to_cuis
    pairs = dict.fromkeys(
        (concept_id, normalize(query.mention))
        for query in queries
        for concept_id in sorted(query.concepts & names.get(query.mention, set()))
    )
    return [{"action": "remove", "concept_id": id_, "alias": alias} for id_, alias in pairs]


def _about(linker: "BergamotLinker", queries: Sequence[GoldMention]) -> dict[str, Any]:
    provenance = linker.parts.provenance
    named = sum(query.mention in linker.kb.alias_to_cuis for query in queries)
    own = 100 * named / len(queries) if queries else 0.0
    return {"lm": provenance["lm"], "index": provenance["index"], "own": own}


def _document(nlp: "Language", query: GoldMention, spans_key: str | None) -> "Doc":
    """Return a document whose only mention is the query's."""
    from spacy_bergamot.mentions import Place, exact_spans

    pieces = split_marked(query.context)
    span = None
    if len(pieces) > 1 and pieces[1] == query.mention:
        start = len(pieces[0])
        place = Place(start, start + len(query.mention), query.type or "MENTION")
        doc, (span,) = exact_spans(nlp.make_doc("".join(pieces)), [place])
    if span is None or span.text != query.mention:
        doc = nlp.make_doc(query.mention)
        span = doc[:]
        span.label_ = query.type or "MENTION"
    if spans_key:
        doc.spans[spans_key] = [span]
    else:
        doc.set_ents([span])
    return doc


def _of_span(span: "Span") -> Ranked:
    candidates = span._.candidates or []
    return Ranked(
        [candidate["concept_id"] for candidate in candidates],
        [candidate["score"] for candidate in candidates],
        list(range(len(candidates))),
        [candidate["alias"] for candidate in candidates],
        span.kb_id_ in ("", "NIL"),
    )
