"""`python -m training mentions`: mentions to train on, made of the knowledge base's definitions.

A name that stands in the definition of a concept means the one of its concepts that is related to
this one: so a homonym has a text that tells its meanings apart, without an annotator.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.languages import iso
from spacy_bergamot.pipeline.pipelines import find_pipeline, linker_of, load_pipeline
from training.corpora.builder import CorpusBuilder
from training.corpora.registry import lat
from training.corpora.schema import Corpus
from training.corpora.spacy_files import write_docbin
from training.errors import BergamotError, Errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

MENTIONS = "bergamot_mentions"
_LONGEST = 2000
"""Characters of a definition that are read."""


def mentions_cli(
    pipeline: Annotated[
        str, typer.Argument(help="spaCy pipeline with bergamot_mentions and bergamot_linker")
    ],
    output: Annotated[Path, typer.Argument(help=".spacy file, or folder of the corpus")],
    limit: Annotated[int, typer.Option(min=1, help="Definitions that are kept")] = 5000,
    language: Annotated[str, typer.Option(help="Of the definitions")] = "en",
    seed: Annotated[int, typer.Option(help="Of the order that definitions are drawn in")] = 0,
) -> None:
    """Write definitions whose names are linked by the relations of the knowledge base.

    A corpus for `rerank` where there is none. Measure what it does before you use it: on the open
    knowledge base it made the learned mix worse than none (docs/linking.md).
    """
    find_pipeline(pipeline)
    nlp = load_pipeline(pipeline)
    corpus, homonyms = mentions_of(nlp, limit=limit, language=lat(language), seed=seed)
    if not corpus.mentions.num_rows:
        what = "definition with a name of a related concept"
        remedy = "Give a pipeline whose knowledge base has definitions and relations."
        raise BergamotError(Errors.T296, path=pipeline, what=what, remedy=remedy)
    if output.suffix == ".spacy":
        write_docbin(corpus, output)
    else:
        corpus.write(output)
    counts = corpus.documents.num_rows, corpus.mentions.num_rows
    typer.echo("{} definitions with {} mentions, {} of them homonyms".format(*counts, homonyms))


def mentions_of(nlp: "Language", *, limit: int, language: str, seed: int) -> tuple[Corpus, int]:
    """Return definitions with linked mentions, and how many of these are homonyms.

    nlp (Language): Pipeline whose dictionary finds the names.
    limit (int): Definitions with mentions. language (str): Theirs, as ENG.
    seed (int): Of the order that they are drawn in.
    RAISES (BergamotError): B047 without a linker or a dictionary.
    """
    linker, _ = linker_of(nlp)
    finders = [name for name, of in nlp.pipe_factories.items() if of == MENTIONS]
    if not finders:
        raise BergamotError(Errors.B047, component=MENTIONS, components=", ".join(nlp.pipe_names))
    find = nlp.get_pipe(finders[0])
    builder = CorpusBuilder("definitions", language)
    counts: Counter[str] = Counter()
    for concept_id, text in _definitions(linker.kb, seed):
        doc = nlp.make_doc(text)
        doc.user_data["language"] = iso(language)
        meant = list(_meant(find(doc).ents, concept_id, linker.kb))
        if not meant:
            continue
        builder.document(concept_id, text)
        for span, gold, is_homonym in meant:
            counts["homonyms"] += is_homonym
            places = [(span.start_char, span.end_char)]
            builder.mention(concept_id, None, [gold], place=concept_id, spans=places)
        counts["definitions"] += 1
        if counts["definitions"] == limit:
            break
    return builder.build(), counts["homonyms"]


def _definitions(kb: KnowledgeBase, seed: int) -> Iterator[tuple[str, str]]:
    """Yield concepts and their definitions in a drawn order."""
    column = kb.table.column("concepts", "definition")
    for row in np.random.default_rng(seed).permutation(len(kb.table)).tolist():
        text = column[row].as_py()
        if text:
            yield kb.table.concept_id(row), " ".join(text.split())[:_LONGEST]


def _meant(
    spans: "Sequence[Span]", concept_id: str, kb: KnowledgeBase
) -> Iterator[tuple["Span", str, bool]]:
    """Yield the names of just one related concept, which it is, and whether others have the name.

    A name of the concept itself says nothing.
    """
    related = set(kb.related(concept_id))
    for span in spans:
        concepts = kb.alias_to_cuis.get(span.text, set())
        fitting = concepts & related
        if len(fitting) == 1 and concept_id not in concepts:
            yield span, next(iter(fitting)), len(concepts) > 1
