"""`python -m training kb`: a knowledge base of any known form to a concept table."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.kb_import.build import table_of


def kb_cli(
    sources: Annotated[
        list[Path],
        typer.Argument(help="RRF folder or archive, or ontologies and tables (see `import`)"),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the concept table")],
    languages: Annotated[
        str, typer.Option(help="Such as ENG,SPA or en,es; all where not given")
    ] = "",
    vocabularies: Annotated[str, typer.Option(help="SAB; all where not given")] = "",
) -> None:
    """Make a concept table, as `python -m spacy bergamot kb` does.

    For training use `import` and `preprocess` instead.
    """
    typer.echo(table_of(sources, output, languages=languages, vocabularies=vocabularies))
