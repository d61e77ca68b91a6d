"""`python -m training benchmark`: a published benchmark, from knowledge base to figures."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.storage.files import write_text
from training.benchmark.beside import beside, render


def benchmark_cli(
    context: typer.Context,
    config: Annotated[
        Path, typer.Argument(help="Benchmark config, such as configs/benchmark/ncbi.cfg")
    ],
) -> None:
    """Run a benchmark and print our figures beside the published ones.

    Every setting can be overridden: --paths.kb META --paths.corpus FOLDER --paths.lm LM. Steps
    whose inputs have not changed are skipped, so that the same command goes on after an end. The
    figures are in metrics.json of paths.output; `evaluate-report` reads its folder results.
    """
    from training.benchmark.config import read_config
    from training.benchmark.run import run_benchmark
    from training.bergamot.cli import parse_overrides

    settings = read_config(config, parse_overrides(context.args))
    report: dict[str, Any] = {"benchmark": config.stem, **run_benchmark(settings)}
    report["published"] = beside(report, release=settings["evaluate"]["release"])
    text = json.dumps(report, indent=1, ensure_ascii=False)
    write_text(Path(settings["paths"]["output"]) / "metrics.json", text + "\n")
    typer.echo(render(report))
