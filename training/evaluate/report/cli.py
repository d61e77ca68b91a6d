"""`python -m training evaluate-report`: ranked results as HTML and Markdown."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.files import MANIFEST, write_text
from training.corpora.dictionary import Dictionary
from training.evaluate.cli import named
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.report import sections
from training.evaluate.report.blocks import Block, to_html, to_markdown
from training.evaluate.report.breakdowns import by_language, by_type
from training.evaluate.report.calibration import calibration
from training.evaluate.report.curves import training_section
from training.evaluate.report.errors import errors
from training.evaluate.report.published import published_section
from training.evaluate.report.tsne import tsne_section
from training.evaluate.report.view import shown_figures, shown_results
from training.evaluate.results import Results

_TITLE = "Concept linking: evaluation"


def evaluate_report_cli(
    results: Annotated[Path, typer.Argument(help="Folder of ranked results from `evaluate`")],
    output: Annotated[Path, typer.Argument(help="HTML file; Markdown goes beside it")],
    concepts: Annotated[
        Path | None, typer.Option(help="Concept table: names, types, and distance in its graph")
    ] = None,
    history: Annotated[
        list[str] | None,
        typer.Option(help="The trainer's history.json, or NAME=PATH; may be repeated"),
    ] = None,
    dictionary: Annotated[
        Path | None, typer.Option(help="Dictionary whose names --lm shows in the plane")
    ] = None,
    lm: Annotated[
        list[str] | None,
        typer.Option("--lm", help="Language model shown in the plane: NAME=FOLDER; repeatable"),
    ] = None,
    release: Annotated[
        str,
        typer.Option(help='What the dictionary is, such as "UMLS 2020AA", for published figures'),
    ] = "",
    published: Annotated[
        list[str] | None,
        typer.Option(help="SET=PUBLISHED: what a set of ours is called in published.json"),
    ] = None,
) -> None:
    """Write a self-contained report, and the same as Markdown."""
    read = Results.open(results)
    written = datetime.fromtimestamp((results / MANIFEST).stat().st_mtime)
    blocks = report_blocks(
        read,
        concepts=concepts,
        histories=_paths(history, "training"),
        dictionary=dictionary,
        lms=_paths(lm, "lm"),
        release=release,
        published=dict(map(named, published or [])),
        measured=f"{written:%Y-%m-%d}",
    )
    for path, write in ((output, to_html), (output.with_suffix(".md"), to_markdown)):
        write_text(path, write(_TITLE, blocks))
        typer.echo(f"Written: {path}")


def report_blocks(
    results: Results,
    *,
    concepts: Path | None = None,
    histories: Mapping[str, Path],
    dictionary: Path | None = None,
    lms: Mapping[str, Path],
    release: str = "",
    published: Mapping[str, str] | None = None,
    measured: str,
) -> list[Block]:
    """Return the whole report; sections whose input is not given are left out."""
    hierarchy = Hierarchy(ConceptTable.open(concepts)) if concepts is not None else None
    whole = results.figures(hierarchy)
    figures, shown = shown_figures(whole, results), shown_results(results)
    blocks = [
        *sections.headline(figures, measured=measured),
        *sections.overview(figures),
        *sections.accuracy(figures),
        *by_language(shown),
        *by_type(shown),
        *published_section(whole, release=release, sets=published),
        *sections.significance(figures),
        *sections.nil(figures),
        *sections.recall(figures),
        *calibration(shown),
        *errors(shown, hierarchy),
        *training_section(histories),
    ]
    if dictionary is not None and lms:
        blocks += tsne_section(Dictionary.read(dictionary), lms, hierarchy)
    return blocks


def _paths(entries: list[str] | None, default: str) -> dict[str, Path]:
    return {name or default: Path(path) for name, path in map(named, entries or [])}
