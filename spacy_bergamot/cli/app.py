"""What the commands share: the typer app, loading a pipeline, errors in one line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from spacy.cli._util import app
from spacy.language import Language

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.pipeline.linker import BergamotLinker

bergamot = typer.Typer(
    name="bergamot",
    help="Link mentions to the concepts of a knowledge base; make, mend and look into a linker.",
    no_args_is_help=True,
)
app.add_typer(bergamot)

Pipeline = Annotated[str, typer.Argument(help="Installed package or folder of a pipeline")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table")]


def linker_of(nlp: Language) -> tuple[BergamotLinker, str]:
    """Return a pipeline's linker and its name.

    nlp (Language): The pipeline.
    RAISES (BergamotError): B047 without one.
    """
    for name, component in nlp.pipeline:
        if isinstance(component, BergamotLinker):
            return component, name
    raise BergamotError(Errors.B047, components=", ".join(nlp.pipe_names))


@contextmanager
def explained() -> Iterator[None]:
    """Show an error that the user can mend in one line, and end with status 1."""
    try:
        yield
    except BergamotError as error:
        typer.echo(f"✘ {error}", err=True)
        sys.exit(1)
