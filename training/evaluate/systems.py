"""Systems under evaluation: exact match, character TF-IDF, language models, spaCy pipelines."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.distinct import group_names
from spacy_bergamot.storage.scratch import Scratch
from spacy_bergamot.text import normalize
from training.errors import BergamotError, Errors
from training.evaluate.dictionary import Dictionary
from training.evaluate.ranking import Ranked, rank
from training.evaluate.readers import Query, split_marked
from training.evaluate.retrievers import (
    DenseRetriever,
    ExactRetriever,
    IndexRetriever,
    Retriever,
    TfidfRetriever,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from spacy_bergamot.pipeline.linker import BergamotLinker

EXACT_SEARCH = " (exact)"
_FACTORY = "bergamot_linker"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Systems:
    """What is compared.

    lms (dict[str, Path]): Language model folders by name; each searches through the index.
    pipelines (dict[str, str]): Folders or packages of spaCy pipelines with `bergamot_linker`.
    held_out (bool): Hide the mentions from the pipelines, whose names they are.
    baselines (bool): Exact match and character TF-IDF too.
    exact_search (bool): Search each language model's vectors without the index too.
    device, precision (str): Of the language models.
    """

    lms: dict[str, Path] = field(default_factory=dict)
    pipelines: dict[str, str] = field(default_factory=dict)
    held_out: bool = False
    baselines: bool = True
    exact_search: bool = False
    device: str = "cpu"
    precision: str = "fp32"


def rank_all(
    systems: Systems,
    queries: Sequence[Query],
    dictionary: Dictionary,
    *,
    k: int,
    threshold: float | None = None,
    noted: dict[str, dict[str, Any]] | None = None,
) -> Iterator[tuple[str, list[Ranked]]]:
    """Yield every system's name and its ranked concepts; one model is in memory at a time.

    noted (dict | None): Gets what `rank_with_pipeline` notes of every pipeline, by name.
    """
    mentions = [query.mention for query in queries]
    with Scratch() as folder:
        for retriever in _retrievers(systems, dictionary, Path(folder)):
            logger.info("Evaluating %s on %d mentions", retriever.name, len(queries))
            yield retriever.name, rank(retriever, mentions, dictionary, k, threshold=threshold)
    for name, path in systems.pipelines.items():
        logger.info("Evaluating %s on %d mentions", name, len(queries))
        about: dict[str, Any] = {}
        yield (
            name,
            rank_with_pipeline(path, queries, k, held_out=systems.held_out, noted=about),
        )
        if noted is not None:
            noted[name] = about


def rank_with_pipeline(
    path: str,
    queries: Sequence[Query],
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
    RAISES (BergamotError): B046 if there is no such pipeline, T142 if it has no linker.
    """
    from spacy_bergamot.pipeline.pipelines import load_pipeline

    nlp = load_pipeline(path, k=k)
    names = [name for name, factory in nlp.pipe_factories.items() if factory == _FACTORY]
    if not names:
        raise BergamotError(Errors.T142, path=path, pipes=", ".join(nlp.pipe_names))
    linker = cast("BergamotLinker", nlp.get_pipe(names[0]))
    hidden = _hidden(linker, queries) if held_out else []
    if hidden:
        linker.update_index(hidden)
    if noted is not None:
        noted |= {**_about(linker, queries), "hidden": len(hidden)}
    key = linker.settings.spans_key
    docs = (_document(nlp, query, key) for query in queries)
    return [_of_span(doc.spans[key][0] if key else doc.ents[0]) for doc in linker.pipe(docs)]


def _hidden(linker: "BergamotLinker", queries: Sequence[Query]) -> list[dict[str, str]]:
    """Return the removal of every mention from the names of its gold concepts."""
    names = linker.kb.alias_to_cuis
    pairs = dict.fromkeys(
        (concept_id, normalize(query.mention))
        for query in queries
        for concept_id in sorted(query.concept_ids & names.get(query.mention, set()))
    )
    return [{"action": "remove", "concept_id": id_, "alias": alias} for id_, alias in pairs]


def _about(linker: "BergamotLinker", queries: Sequence[Query]) -> dict[str, Any]:
    provenance = linker.parts.provenance
    named = sum(query.mention in linker.kb.alias_to_cuis for query in queries)
    own = 100 * named / len(queries) if queries else 0.0
    return {"lm": provenance["lm"], "index": provenance["index"], "own": own}


def _document(nlp: "Language", query: Query, spans_key: str | None) -> "Doc":
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


def _retrievers(systems: Systems, dictionary: Dictionary, folder: Path) -> Iterator[Retriever]:
    if systems.baselines:
        yield ExactRetriever(dictionary)
        yield TfidfRetriever(dictionary)
    for name, path in systems.lms.items():
        encoder = TextEncoder.open(path, device=systems.device, precision=systems.precision)
        groups = group_names(encoder, pa.array(dictionary.names, pa.large_string()))
        vectors = encoder.encode([dictionary.names[row] for row in groups.first], progress=True)
        if systems.exact_search:
            every = vectors[groups.of_rows()]
            yield DenseRetriever(encoder, every, name=f"{name}{EXACT_SEARCH}")
        yield IndexRetriever(encoder, vectors, groups, folder / name, name=name)
