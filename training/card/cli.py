"""`python -m training card`: say what a pipeline is, in its folder, before it is packaged."""

from pathlib import Path
from typing import Annotated

import typer

from training.card.run import make_card


def card_cli(
    pipeline: Annotated[Path, typer.Argument(help="Folder that `spacy assemble` wrote")],
    figures: Annotated[
        Path | None, typer.Option(help="JSON of an evaluation, such as metrics/held_out.json")
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option(help="Its concept table, where that says more of the sources than its own"),
    ] = None,
    lm: Annotated[
        Path | None,
        typer.Option("--lm", help="Its language model in the folder of the training run"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the package")] = None,
    version: Annotated[str | None, typer.Option(help="Version of the package")] = None,
    speed: Annotated[bool, typer.Option(help="Time 200 mentions on one core")] = True,
) -> None:
    """Complete a pipeline's meta.json and write its model card, README.md.

    It says what the knowledge base holds and under which licences, what was measured, what the
    language model is, how fast it is, and what it does not do. A figure that was not measured is
    left out, and the card says so. LICENSES_SOURCES lists what the sources ask for.
    """
    facts = make_card(
        pipeline, figures=figures, kb=kb, lm=lm, name=name, version=version, speed=speed
    )
    typer.echo(f"Wrote the model card {pipeline / 'README.md'}")
    for source in facts["knowledge_base"]["sources"]:
        if not source["licence"]:
            typer.echo(f"The licence of {source['source']} is not said: see MRSAB.tsv")
