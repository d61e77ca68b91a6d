"""`publish`: a packaged pipeline on the Hugging Face hub."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.cli.app import bergamot, explained
from spacy_bergamot.cli.results import prepare_folder
from spacy_bergamot.output.hub import tag_of, upload, write_repository
from spacy_bergamot.storage.scratch import Scratch


@bergamot.command("publish")
def publish_cli(
    package: Annotated[
        Path, typer.Argument(help="Folder that `spacy package` wrote, with a wheel")
    ],
    repo: Annotated[str, typer.Argument(help="USER/NAME on the hub; it is made if it is new")],
    dry_run: Annotated[
        Path | None,
        typer.Option(help="Write what would be uploaded to this folder, and upload nothing"),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="A new repository is for everyone to read")
    ] = False,
) -> None:
    """Upload a pipeline to the Hugging Face hub: its files, its wheel and its model card.

    It names the sources and their licences: a pipeline with UMLS or SNOMED CT names must not be
    given to others. Needs the extra `hub`: pip install "spacy_bergamot[hub]"
    """
    with explained():
        if dry_run is not None:
            prepare_folder(dry_run)
            _say(write_repository(package, repo, dry_run))
            typer.echo(f"{dry_run}: what {repo} would hold; nothing was uploaded", err=True)
            return
        with Scratch() as folder:
            meta = write_repository(package, repo, folder / "repository")
            _say(meta)
            address = upload(folder / "repository", repo, tag=tag_of(meta), public=public)
        typer.echo(f"{address} {tag_of(meta)}")


def _say(meta: dict[str, Any]) -> None:
    """Name the sources and their licences."""
    for source in meta.get("sources") or ():
        typer.echo(f"{source['name']}: {source.get('license') or 'licence not said'}", err=True)
