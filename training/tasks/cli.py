"""`python -m training tasks groups | similarity | finetune`."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.files import write_text
from training.options import Concepts, Device, Figures, Lm
from training.preprocess.training_set import TrainingSet
from training.tasks.finetune import FinetuneSettings, finetune
from training.tasks.groups import choose, choose_by_training, classify
from training.tasks.records import FORMATS, read_records
from training.tasks.similarity import correlate, read_judgements

app = typer.Typer(help="Other tasks of the papers, on a language model.", no_args_is_help=True)


@app.command("groups")
def groups_cli(
    concepts: Concepts,
    lm: Lm,
    output: Figures,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Semantic group, repeatable; default the four with most concepts"),
    ] = None,
    count: Annotated[int, typer.Option(min=10, help="Names that are drawn")] = 10_000,
    epochs: Annotated[int, typer.Option(min=1)] = 10,
    rate: Annotated[float, typer.Option(help="Learning rate")] = 5e-2,
    training_set: Annotated[
        Path | None,
        typer.Option(help="What the model was trained on: figures of seen names, and of unseen"),
    ] = None,
    seed: int = 0,
    device: Device = "cpu",
) -> None:
    """Semantic groups of names by a linear classifier on frozen embeddings, five folds."""
    table = ConceptTable.open(concepts)
    chosen: dict[str, Any] = {"groups": group, "count": count, "seed": seed}
    encoder = TextEncoder.open(lm, device=device)
    figures = partial(classify, encoder, epochs=epochs, rate=rate, seed=seed)
    if training_set is None:
        _write(output, figures(choose(table, **chosen)))
        return
    kinds = choose_by_training(table, TrainingSet.open(training_set), **chosen)
    _write(output, {kind: figures(data) for kind, data in kinds.items()})


@app.command("similarity")
def similarity_cli(
    judgements: Annotated[
        Path,
        typer.Argument(help="CSV with Mean, Term1, Term2, as UMNSRS or corpus/eval/graded.csv"),
    ],
    lm: Lm,
    output: Figures,
    device: Device = "cpu",
) -> None:
    """Spearman's rho of the model's cosines and people's judgement of names, or their scores."""
    read = read_judgements(judgements)
    _write(output, correlate(TextEncoder.open(lm, device=device), read))


@app.command("finetune")
def finetune_cli(
    form: Annotated[str, typer.Argument(help=f"Format of the files: {', '.join(FORMATS)}")],
    train: Annotated[Path, typer.Argument(help="Training records")],
    test: Annotated[Path, typer.Argument(help="Records that are scored")],
    lm: Lm,
    output: Figures,
    epochs: Annotated[float, typer.Option(help="Passes over the training records")] = 3,
    rate: Annotated[float, typer.Option(help="Learning rate")] = 2e-5,
    batch: Annotated[int, typer.Option(min=1, help="Records a step")] = 16,
    max_length: Annotated[int, typer.Option(min=8, help="Tokens kept of a record")] = 512,
    seeds: Annotated[int, typer.Option(min=1, help="Runs, with seeds from 0")] = 1,
    save: Annotated[Path | None, typer.Option(help="Folder for the last run's model")] = None,
    device: Device = "cpu",
) -> None:
    """Question answering or entailment by fine-tuning all weights; mean and spread over seeds."""
    (records, skipped), (scored, skipped_test) = (read_records(p, form) for p in (train, test))
    settings = FinetuneSettings(
        epochs=epochs, rate=rate, batch=batch, max_length=max_length, device=device
    )
    runs = [
        finetune(lm, records, scored, settings=settings, seed=seed, save=save)
        for seed in range(seeds)
    ]
    accuracy = [run["accuracy"] for run in runs]
    report = {
        "format": form,
        "train": len(records),
        "test": len(scored),
        "skipped": skipped + skipped_test,
        "accuracy": float(np.mean(accuracy)),
        "spread": float(np.std(accuracy)),
        "runs": runs,
    }
    _write(output, report)


def _write(output: Path, report: dict[str, Any]) -> None:
    text = json.dumps(report, indent=1, ensure_ascii=False)
    write_text(output, text + "\n")
    typer.echo(text)
