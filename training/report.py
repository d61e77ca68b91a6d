"""`python -m training report`: the figures of a run and the wheel it made."""

import json
from pathlib import Path
from typing import Annotated

import typer

from training.errors import BergamotError, Errors
from training.evaluate.cli import render


def report_cli(
    metrics: Annotated[Path, typer.Argument(help="JSON that `evaluate` wrote")],
    packages: Annotated[Path, typer.Argument(help="Folder of the packaged wheel")],
) -> None:
    """Print recall of the gold concepts per language and system, and the path of the wheel."""
    typer.echo(report(metrics, packages))


def report(metrics: Path, packages: Path) -> str:
    """Return the evaluation's table and the path of the newest wheel."""
    if not metrics.is_file():
        raise BergamotError(Errors.T301.format(path=metrics))
    wheels = sorted(packages.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        raise BergamotError(Errors.T307.format(path=packages))
    table = render(json.loads(metrics.read_text(encoding="utf8")))
    return f"{table}\n\nPackaged pipeline: {wheels[-1]}\nInstall it with: pip install {wheels[-1]}"
