"""`python -m training upgrade`: a pipeline for the next release of its knowledge base."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.cli.results import prepare_folder
from spacy_bergamot.pipeline.pipelines import find_pipeline
from training.upgrade.report import summary, write_report
from training.upgrade.run import upgrade


def upgrade_cli(
    pipeline: Annotated[str, typer.Argument(help="Pipeline with a bergamot_linker")],
    release: Annotated[
        Path, typer.Argument(help="New release: RRF folder or archive, ontology, or concept table")
    ],
    output: Annotated[Path, typer.Argument(help="Folder of the new pipeline")],
    device: Annotated[str, typer.Option(help="For encoding: cpu, auto, cuda:0")] = "auto",
    vectors: Annotated[
        Path | None, typer.Option(help="Keep vectors here, to go on after an interruption")
    ] = None,
) -> None:
    """Write a pipeline that links to a new release, and say what the release changed.

    Only names that are new are encoded; the others keep the vectors that the index has. The
    knowledge base is filtered as that of the old pipeline was. Changes by `update`, calibration and
    learned reranker are carried over, or refused with a reason. OUTPUT.upgrade.html and .json say
    which concepts were added, removed, merged and renamed.
    """
    prepare_folder(output)
    report = upgrade(find_pipeline(pipeline), release, output, device=device, vectors=vectors)
    page = write_report(report, output)
    typer.echo(f"{summary(report)}\n{output}, {page}")
