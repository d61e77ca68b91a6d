"""What the commands share: the typer app, loading a pipeline, errors in one line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.cli._util import app
from spacy.language import Language

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.linker import BergamotLinker

bergamot = typer.Typer(
    name="bergamot",
    help="Link mentions to the concepts of a knowledge base; make, mend and look into a linker.",
    no_args_is_help=True,
)
app.add_typer(bergamot)

Pipeline = Annotated[str, typer.Argument(help="Installed package or folder of a pipeline")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table")]


def load(pipeline: str, *, device: str | None = None) -> Language:
    """Load a pipeline.

    device (str | None): For its linkers; None leaves them what the config says.
    RAISES (BergamotError): B046 if there is none of that name.
    """
    try:
        names = _linkers(pipeline) if device is not None else []
        settings = {"components": {name: {"device": device} for name in names}}
        return spacy.load(pipeline, config=settings if names else {})
    except OSError as reason:
        raise BergamotError(Errors.B046.format(name=pipeline, reason=reason)) from None


def _linkers(pipeline: str) -> list[str]:
    """Return the names of the linkers in a pipeline's config."""
    folder = Path(pipeline)
    if spacy.util.is_package(pipeline):
        package = spacy.util.get_package_path(pipeline)
        meta = spacy.util.get_model_meta(package)
        folder = package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    components: dict[str, Any] = spacy.util.load_config(folder / "config.cfg")["components"]
    return [name for name, of in components.items() if of.get("factory") == "bergamot_linker"]


def linker_of(nlp: Language) -> tuple[BergamotLinker, str]:
    """Return a pipeline's linker and its name. RAISES (BergamotError): B047 without one."""
    for name, component in nlp.pipeline:
        if isinstance(component, BergamotLinker):
            return component, name
    raise BergamotError(Errors.B047.format(components=", ".join(nlp.pipe_names)))


@contextmanager
def explained() -> Iterator[None]:
    """Show an error that the user can mend in one line, and end with status 1."""
    try:
        yield
    except BergamotError as error:
        typer.echo(f"✘ {error}", err=True)
        sys.exit(1)
