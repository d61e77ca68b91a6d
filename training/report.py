"""`python -m training report`: the figures of a run and the wheel it made."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.text_files import check_file
from training.errors import BergamotError, Errors
from training.evaluate.cli import render
from training.evaluate.links_cli import render as render_links


def report_cli(
    metrics: Annotated[
        Path,
        typer.Argument(help="JSON that `evaluate`, `evaluate-links` or `spacy evaluate` wrote"),
    ],
    packages: Annotated[Path, typer.Argument(help="Folder of the packaged wheel")],
) -> None:
    """Print the figures, such as recall of the gold concepts, and the path of the wheel."""
    typer.echo(report(metrics, packages))


def report(metrics: Path, packages: Path) -> str:
    """Return the evaluation's table and the path of the newest wheel.

    RAISES (BergamotError): B001 without the metrics, T296 without a wheel.
    """
    check_file(metrics)
    wheels = sorted(packages.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        remedy = "Run: spacy project run package"
        raise BergamotError(Errors.T296, path=packages, what="wheel", remedy=remedy)
    scores = json.loads(metrics.read_text(encoding="utf8"))
    if "partial_mention" in scores:
        table = render_links(scores)
    else:
        table = render_ner(scores) if "ents_f" in scores else render(scores)
    return f"{table}\n\nPackaged pipeline: {wheels[-1]}\nInstall it with: pip install {wheels[-1]}"


def render_ner(scores: dict[str, Any]) -> str:
    """Return what `spacy evaluate` found of mentions, of their links, and of both together."""
    rows = {
        "mentions found": ("ents_p", "ents_r", "ents_f"),
        "found and linked": ("link_end_to_end_p", "link_end_to_end_r", "link_end_to_end_f"),
    }
    lines = [f"{'in percent':24}{'P':>7}{'R':>7}{'F1':>7}"]
    for name, keys in rows.items():
        lines.append(f"{name:24}" + "".join(f"{100 * (scores[key] or 0):7.1f}" for key in keys))
    accuracy = {"accuracy": "link_accuracy", "recall@5": "link_recall@5"}
    cells = ", ".join(f"{name} {100 * (scores[key] or 0):.1f}" for name, key in accuracy.items())
    return "\n".join([*lines, f"Linking of the mentions that were found: {cells}"])
