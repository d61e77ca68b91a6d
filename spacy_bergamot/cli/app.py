"""What the commands share: the typer app, loading a pipeline, errors in one line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import app

from spacy_bergamot.annotate.sources import Kind
from spacy_bergamot.errors import BergamotError

bergamot = typer.Typer(
    name="bergamot",
    help="Link mentions to the concepts of a knowledge base; make, mend and look into a linker.",
    no_args_is_help=True,
)
app.add_typer(bergamot)

Pipeline = Annotated[str, typer.Argument(help="Installed package or folder of a pipeline")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table")]
Candidates = Annotated[bool, typer.Option("--candidates", help="Write them too")]
TextColumn = Annotated[str, typer.Option(help="Column or key of the text")]
Lines = Annotated[
    bool, typer.Option("--lines", help="A line of .txt is a document, not the whole file")
]
From = Annotated[
    Kind | None, typer.Option("--from", help="What the input is, where its ending does not say it")
]
Device = Annotated[str | None, typer.Option(help="For the language model: cpu, auto, cuda:0")]
Code = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        help="Python file that is run first, to register the components of other packages",
    ),
]


@contextmanager
def explained() -> Iterator[None]:
    """Show an error that the user can mend in one line, and end with status 1."""
    try:
        yield
    except BergamotError as error:
        typer.echo(f"✘ {error}", err=True)
        sys.exit(1)
