"""`check`: whether every file of a pipeline is as it was packaged."""

from typing import Annotated

import typer

from spacy_bergamot.cli.app import Pipeline, bergamot, explained
from spacy_bergamot.pipeline.pipeline_files import changed_files, list_files
from spacy_bergamot.pipeline.pipelines import pipeline_folder


@bergamot.command("check")
def check_cli(
    pipeline: Pipeline,
    write: Annotated[
        bool, typer.Option("--write", help="Take the files as they are now: make the list anew")
    ] = False,
) -> None:
    """Compare every file of a pipeline with the list made when it was packaged.

    Nothing of the pipeline is loaded. What differs is named; the status is then 1.
    """
    with explained():
        folder = pipeline_folder(pipeline)
        if write:
            list_files(folder)
        found = changed_files(folder)
    for problem in found:
        typer.echo(f"✘ {problem}", err=True)
    if found:
        raise typer.Exit(1)
    typer.echo(f"{folder}: every file is as listed", err=True)
