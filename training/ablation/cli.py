"""`python -m training ablation`: every variant with every seed, trained, evaluated and compared."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.storage.files import write_text
from spacy_bergamot.text import comma_separated
from training.ablation.dictionary import cut_dictionary
from training.ablation.figures import render, summarize, system_name
from training.ablation.runs import TrainingRun, plan, train_all
from training.ablation.variants import FULL, VARIANTS, chosen
from training.evaluate.cli import named
from training.evaluate.results import Choices, Results
from training.evaluate.run import run_evaluation
from training.evaluate.systems import Systems
from training.options import Dictionary, GpuId, MoreSets


def ablation_cli(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Training config, such as configs/train/tiny.cfg")],
    dictionary: Dictionary,
    queries: Annotated[str, typer.Argument(help="Set of gold mentions, PATH or NAME=PATH")],
    output: Annotated[Path, typer.Argument(help="Folder for runs, results and the summary")],
    more: MoreSets = None,
    variants: Annotated[
        str, typer.Option(help=f"Comma-separated; all of: {', '.join(VARIANTS)}")
    ] = "",
    training_sets: Annotated[
        list[str] | None,
        typer.Option("--training-set", help="Another to train on, NAME=PATH; repeatable"),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each variant")] = 3,
    names: Annotated[
        int, typer.Option(help="Cut the dictionary to the golds' names and others, so many; 0: all")
    ] = 0,
    processes: Annotated[int, typer.Option(min=1, help="Runs trained side by side")] = 1,
    precision: Annotated[
        str, typer.Option(help="Of the LMs in evaluation: fp32, bf16, auto")
    ] = "fp32",
    gpu_id: GpuId = -1,
) -> None:
    """Train variants of a config from one language model with equal steps, and compare them.

    Settings can be overridden as in `train`: --training.max_steps 500. The same command goes on
    after an interruption. Writes summary.json and summary.md.
    """
    from training.bergamot.cli import parse_overrides
    from training.bergamot.config import read_config

    base = read_config(config, parse_overrides(context.args))
    others = {name: Path(path) for name, path in map(named, training_sets or [])}
    runs = plan(chosen(base, comma_separated(variants), others), seeds, output / "runs")
    train_all(runs, processes=processes, gpu_id=gpu_id)
    sets = [(name, Path(path)) for name, path in map(named, [queries, *(more or [])])]
    summary = evaluate_runs(runs, dictionary, sets, output, names=names, precision=precision)
    text = render(summary)
    write_text(output / "summary.json", json.dumps(summary, indent=1) + "\n")
    write_text(output / "summary.md", text + "\n")
    typer.echo(text)


def evaluate_runs(
    runs: list[TrainingRun],
    dictionary: Path,
    sets: list[tuple[str, Path]],
    output: Path,
    *,
    names: int,
    precision: str,
) -> dict[str, Any]:
    """Evaluate every run's language model, and the one that it began from; return the summary."""
    lms = {system_name(run): run.lm for run in runs}
    lms |= {system_name(run, before=True): run.base for run in runs if run.variant == FULL}
    if names:
        dictionary = cut_dictionary(
            dictionary, [path for _, path in sets], output / "dictionary.txt", names=names
        )
    folder = output / "results"
    systems = Systems(lms=lms, precision=precision)
    run_evaluation(dictionary, sets, folder, systems, choices=Choices(k=8))
    return {"names": names or "all", **summarize(Results.open(folder), runs)}
