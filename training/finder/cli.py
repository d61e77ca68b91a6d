"""`python -m training finder` and `python -m training silver`."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from training.errors import BergamotError, Errors
from training.finder.recipe import Recipe
from training.options import Epochs, GpuId, LearnRate, Narrow


def finder_cli(
    train: Annotated[
        list[Path],
        typer.Argument(
            help="Documents with entities (.spacy), gold and silver, a corpus per file: where one "
            "has no entity of a label, that label is left open"
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder; OUTPUT/finder is made")],
    lm: Annotated[Path, typer.Option(help="Language model that it begins from")],
    dev: Annotated[
        Path | None, typer.Option(help="Documents (.spacy) that it is measured on")
    ] = None,
    concepts: Annotated[
        Path | None,
        typer.Option(help="Concept table: mentions get other names of theirs, in any language"),
    ] = None,
    epochs: Epochs = Recipe.epochs,
    batch_pieces: Annotated[
        int, typer.Option(min=256, help="Pieces of words per step")
    ] = Recipe.batch_pieces,
    learn_rate: LearnRate = Recipe.learn_rate,
    swap_share: Annotated[
        float, typer.Option(min=0, max=1, help="Mentions renamed")
    ] = Recipe.swap_share,
    precision: Narrow = Recipe.precision,
    seed: Annotated[
        int, typer.Option(help="Of order, renaming, dropout and the head")
    ] = Recipe.seed,
    gpu_id: GpuId = -1,
) -> None:
    """Train a mention finder: the component bergamot_finder reads what it makes.

    The same command goes on behind the last whole epoch of an interrupted run.
    """
    from spacy.vocab import Vocab

    from spacy_bergamot.annotate.sources import docs_of
    from spacy_bergamot.kb.concept_table import ConceptTable
    from training.bergamot.cli import device_of
    from training.finder.train import train_finder

    recipe = Recipe(
        epochs=epochs,
        batch_pieces=batch_pieces,
        learn_rate=learn_rate,
        swap_share=swap_share,
        precision=precision,
        seed=seed,
    )
    corpora = [list(docs_of(path, Vocab())) for path in train]
    table = None if concepts is None else ConceptTable.open(concepts)
    held = [] if dev is None else list(docs_of(dev, Vocab()))
    scores = train_finder(
        corpora, held, lm, output, recipe, concepts=table, device=device_of(gpu_id)
    )
    typer.echo(f"{output / 'finder'}: {json.dumps(scores)}")


def silver_cli(
    pipeline: Annotated[
        Path, typer.Argument(help="Pipeline with bergamot_mentions and bergamot_linker")
    ],
    texts: Annotated[
        list[Path], typer.Argument(help="Notes, JSONL, CSV, TSV, Parquet or folders of notes")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Documents to write (.spacy)")],
    finder: Annotated[
        Path | None, typer.Option(help="A finder trained before, which marks as well")
    ] = None,
    language: Annotated[
        str, typer.Option(help="Of texts without a column `language`; found out where empty")
    ] = "",
    text_column: Annotated[str, typer.Option(help="Key or column of the text")] = "text",
    label: Annotated[str, typer.Option(help="Semantic group that is marked")] = "DISO",
    limit: Annotated[int | None, typer.Option(min=1, help="Texts of each path at most")] = None,
) -> None:
    """Mark mentions in texts by the knowledge base, to train a finder on.

    Names of the knowledge base are mentions. So is what a finder trained before marks, where the
    linker knows a concept near it; where it is not sure, a word is left open, and no finder learns
    from it that it is one or none.
    """
    from spacy.tokens import DocBin

    from spacy_bergamot.finder import BergamotFinder
    from spacy_bergamot.pipeline.pipelines import load_pipeline
    from spacy_bergamot.storage.bundle import FileBundle
    from spacy_bergamot.storage.files import atomic_file
    from training.finder.silver import SPANS, Marker

    nlp = load_pipeline(str(pipeline))
    found = None
    if finder is not None:
        found = BergamotFinder(nlp.vocab, spans_key=SPANS).set_files(FileBundle(finder))
    counts: Counter[str] = Counter()
    store = DocBin(store_user_data=True)
    for doc in Marker(nlp, found, label).mark(_texts(texts, language, text_column, limit, counts)):
        store.add(doc)
        counts["mentions"] += len(doc.ents)
        counts["texts with words left open"] += any(token.ent_iob == 0 for token in doc)
    if not counts["mentions"]:
        raise BergamotError(Errors.T310, paths=", ".join(map(str, texts)), label=label)
    with atomic_file(output) as temporary:
        temporary.write_bytes(store.to_bytes())
    typer.echo(f"{output}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items()) if n))


def _texts(
    paths: list[Path], language: str, column: str, limit: int | None, counts: Counter[str]
) -> Iterator[tuple[str, str]]:
    from spacy.vocab import Vocab

    from spacy_bergamot.annotate.sources import Source

    for path in paths:
        read = 0
        for entry in Source.at(path, text_column=column).read(Vocab()):
            if limit is not None and read >= limit:
                break
            text = entry.text
            if not isinstance(text, str) or not text.strip():
                counts["texts that are empty or unreadable"] += 1
                continue
            read += 1
            yield str(entry.facts.get("language") or language), text
        counts["texts"] += read
