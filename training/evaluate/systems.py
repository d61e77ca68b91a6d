"""Systems under evaluation: generators over an alias index of the dictionary, and pipelines."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking import generators
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.storage.scratch import Scratch
from training.corpora.dictionary import Dictionary
from training.corpora.schema import GoldMention
from training.evaluate.indexes import NoLm, indexed, over
from training.evaluate.pipeline import rank_with_pipeline
from training.evaluate.ranking import Ranked, rank
from training.reuse import ReusingEncoder

_WHOLE = ("nmslib", "exact")  # engines whose vectors are float32
EXACT_SEARCH = " (exact)"
ENSEMBLE = " (ensemble)"
# Recall at many concepts counts here: a baseline shows even what no pipeline would link.
BASELINES: dict[str, generators.Generator] = {
    "exact": generators.ExactGenerator(),
    "lexical": generators.LexicalGenerator(smallest=0.0),
}

logger = logging.getLogger(__name__)


def shows_concepts(name: str, pipelines: Collection[str]) -> bool:
    """Return whether a system ranks concepts alone, so that nothing can be counted over names.

    pipelines (Collection[str]): The names of those among the systems.
    """
    return name in pipelines or name.endswith(ENSEMBLE)


@dataclass(frozen=True)
class Systems:
    """What is compared.

    lms (dict[str, Path]): Language model folders by name; each searches through the index.
    pipelines (dict[str, str]): Folders or packages of spaCy pipelines with `bergamot_linker`.
    held_out (bool): Hide the mentions from the pipelines, whose names they are.
    baselines (bool): Exact match and character 3-grams too.
    exact_search (bool): Search each language model's vectors without the index too.
    ensemble (bool): Each language model with both baselines too, as a pipeline has them.
    device, precision (str): Of the language models.
    """

    lms: dict[str, Path] = field(default_factory=dict)
    pipelines: dict[str, str] = field(default_factory=dict)
    held_out: bool = False
    baselines: bool = True
    exact_search: bool = False
    ensemble: bool = False
    device: str = "cpu"
    precision: str = "fp32"


def rank_all(
    systems: Systems,
    queries: Sequence[GoldMention],
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
    for name, generator in _generators(systems, dictionary):
        logger.info("Evaluating %s on %d mentions", name, len(queries))
        yield name, rank(generator, mentions, k, threshold=threshold)
    for name, path in systems.pipelines.items():
        logger.info("Evaluating %s on %d mentions", name, len(queries))
        about: dict[str, Any] = {}
        yield (name, rank_with_pipeline(path, queries, k, held_out=systems.held_out, noted=about))
        if noted is not None:
            noted[name] = about


def _generators(
    systems: Systems, dictionary: Dictionary
) -> Iterator[tuple[str, CandidateGenerator]]:
    """Yield the generators over the dictionary by name; the index of each is gone with the next."""
    if systems.baselines:
        nothing = NoLm()
        with indexed(dictionary, nothing) as index:
            for name, generator in BASELINES.items():
                yield name, over(index, nothing, generator)
    for name, path in systems.lms.items():
        encoder = TextEncoder.open(path, device=systems.device, precision=systems.precision)
        facts: dict[str, Any] = {"lm_fingerprint": fingerprint(path), "progress": True}
        made = _index_of(systems.pipelines.values(), facts["lm_fingerprint"])
        names = ReusingEncoder(encoder, made) if made else encoder
        with Scratch() as folder:
            if systems.exact_search:
                facts["vectors"] = folder / "vectors"  # both engines take them from there
                with indexed(dictionary, names, engine="exact", **facts) as index:
                    yield f"{name}{EXACT_SEARCH}", over(index, encoder, generators.DenseGenerator())
            with indexed(dictionary, names, engine="nmslib", **facts) as index:
                yield name, over(index, encoder, generators.DenseGenerator())
                if systems.ensemble:
                    yield f"{name}{ENSEMBLE}", over(index, encoder, packaged())


def _index_of(pipelines: Iterable[str], lm: str) -> AliasIndex | None:
    """Return the index of a pipeline with a language model that keeps its vectors as they were.

    Encoding the names of a large dictionary takes longer than all the rest.
    """
    from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline

    for pipeline in pipelines:
        linker, _ = linker_of(load_pipeline(pipeline))
        index = linker.parts.index
        if index.manifest["lm_fingerprint"] == lm and index.manifest["engine"] in _WHOLE:
            return index
    return None


def packaged() -> generators.EnsembleGenerator:
    """Return the mix of exact match, 3-grams and language model that packaged pipelines have.

    The names of a dictionary have no language: it cannot compare them with others of their own.
    """
    from spacy.util import registry

    from spacy_bergamot.pipeline.factory import MIXED_GENERATOR

    return registry.resolve({"mix": MIXED_GENERATOR})["mix"]
