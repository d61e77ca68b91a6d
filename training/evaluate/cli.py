"""`python -m training evaluate`: retrieval of gold concepts, as a table, as JSON and ranked."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.pipeline.pipelines import find_pipeline
from spacy_bergamot.storage.files import write_text
from training.errors import BergamotError, Errors
from training.evaluate.metrics import GOLDS
from training.evaluate.protocols import PROTOCOLS
from training.evaluate.results import Choices, what_pipelines_know
from training.evaluate.run import OUT_OF_KB, run_evaluation
from training.evaluate.systems import Systems
from training.options import Device, Dictionary, Figures, MoreSets, Precision


def evaluate_cli(
    dictionary: Dictionary,
    queries: Annotated[
        str,
        typer.Argument(
            help="CUI||mention lines, a folder of them, .concept files, gold .jsonl or a corpus; "
            "or NAME=PATH"
        ),
    ],
    output: Figures,
    more: MoreSets = None,
    lm: Annotated[
        list[str] | None,
        typer.Option("--lm", help="Language model folder, or NAME=FOLDER; may be repeated"),
    ] = None,
    pipeline: Annotated[
        list[str] | None,
        typer.Option(help="spaCy pipeline with bergamot_linker, or NAME=PIPELINE; repeatable"),
    ] = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out", help="Hide the mentions from the pipelines, whose names they are"
        ),
    ] = False,
    baselines: Annotated[bool, typer.Option(help="Exact match and character 3-grams too")] = True,
    exact_search: Annotated[
        bool, typer.Option(help="Search the LM's vectors without the index too")
    ] = False,
    ensemble: Annotated[
        bool, typer.Option(help="The LM with exact match and 3-grams, as pipelines mix them, too")
    ] = False,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help=f"Which mentions count, repeatable: {', '.join(PROTOCOLS)}"),
    ] = None,
    golds: Annotated[
        str, typer.Option(help=f"How several gold concepts count: {', '.join(GOLDS)}")
    ] = "any",
    out_of_kb: Annotated[
        str, typer.Option(help=f"Golds that the dictionary has not: {', '.join(OUT_OF_KB)}")
    ] = "drop",
    threshold: Annotated[
        float | None, typer.Option(help="Best score below which a retriever says NIL")
    ] = None,
    k: Annotated[int, typer.Option(min=5, help="Concepts kept of a mention")] = 64,
    train: Annotated[
        Path | None, typer.Option(help="Training queries, for not_in_train and zero_shot")
    ] = None,
    concepts: Annotated[
        Path | None, typer.Option(help="Concept table, for credit by distance in its graph")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder for the ranked results; the JSON file's name without suffix"),
    ] = None,
    device: Device = "cpu",
    precision: Precision = "fp32",
) -> None:
    """Measure how often the gold concept is retrieved: Acc@k over concepts and over names."""
    if held_out and not pipeline:
        needed = "pipelines to hide mentions from"
        raise BergamotError(Errors.T113, what="--held-out", needed=needed, option="--pipeline")
    for _, known in map(named, pipeline or []):
        find_pipeline(known)
    systems = Systems(
        lms={name or "lm": Path(path) for name, path in map(named, lm or [])},
        pipelines={name or "pipeline": path for name, path in map(named, pipeline or [])},
        held_out=held_out,
        baselines=baselines,
        exact_search=exact_search,
        ensemble=ensemble,
        device=device,
        precision=precision,
    )
    report = run_evaluation(
        dictionary,
        [(name, Path(path)) for name, path in map(named, [queries, *(more or [])])],
        results or output.with_suffix(""),
        systems,
        choices=Choices(tuple(protocol or ["full"]), golds, out_of_kb, threshold, k),
        train=train,
        concepts=concepts,
    )
    write_text(output, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    typer.echo(render(report))


def render(report: dict[str, Any]) -> str:
    """Return the report as tables: a group a line, Acc@1 and Acc@5 over concepts a system."""
    dictionary = report["dictionary"]
    parts = {report["protocol"]: report, **report["further_protocols"]}
    tables = [
        f"Recall@1 / recall@5 of the gold concept in percent; {name} set, "
        f"{part['mentions']} mentions, {dictionary['names']} names, "
        f"{dictionary['concepts']} concepts\n{_table(part['systems'])}"
        for name, part in parts.items()
    ]
    skipped = {reason: count for reason, count in report["skipped"].items() if count}
    if skipped:
        counts = ", ".join(f"{n} {reason}" for reason, n in skipped.items())
        tables.append(f"Not read or out of the dictionary ({report['out_of_kb']}): {counts}")
    return "\n".join([*tables, *what_pipelines_know(report)])


def named(entry: str) -> tuple[str, str]:
    """Split NAME=VALUE; the name is empty where there is none."""
    name, equals, value = entry.partition("=")
    return (name, value) if equals else ("", entry)


def _table(systems: dict[str, Any]) -> str:
    groups = list(next(iter(systems.values())))
    width = max(12, *(len(name) + 2 for name in [*systems, *groups]))
    lines = [f"{'':{width}}{'n':>6}" + "".join(f"{name:>{width + 3}}" for name in systems)]
    for group in groups:
        cells = "".join(
            f"{table[group]['acc@1']:>{width - 4}.1f} / {table[group]['acc@5']:4.1f}"
            for table in systems.values()
        )
        count = int(next(iter(systems.values()))[group]["n"])
        lines.append(f"{group:{width}}{count:>6}{cells}")
    return "\n".join(lines)
