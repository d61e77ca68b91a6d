"""`kb`: a knowledge base of any known form to a concept table."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.cli.app import bergamot, explained
from spacy_bergamot.cli.results import prepare_folder
from spacy_bergamot.errors import importing


@bergamot.command("kb")
def kb_cli(
    sources: Annotated[
        list[Path], typer.Argument(help="RRF folder or archive, or ontologies and tables")
    ],
    output: Annotated[Path, typer.Argument(help="Folder of the concept table")],
    languages: Annotated[
        str, typer.Option(help="Of names, such as ENG,SPA or en,es; all where not given")
    ] = "",
    vocabularies: Annotated[str, typer.Option(help="Of names (SAB); all where not given")] = "",
) -> None:
    """Make a concept table: what `index` wants.

    Reads UMLS's RRF, OBO, OBO graphs (.json), Babelon and SSSOM tables, Orphadata's XML, ClaML,
    the text files of ICD-10-GM, OPS and ICD-10, ATC, and custom .csv, .tsv and .jsonl with id, name
    and optionally language, synonyms, abbreviations, term_type, suppress, type, parents, xrefs,
    definition, source and code. It needs the extra `kb`: pip install "spacy_bergamot[kb]".
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with explained():
        prepare_folder(output)
        with importing("Reading a knowledge base", packages='"spacy_bergamot[kb]"'):
            from spacy_bergamot.kb_import.build import table_of
        typer.echo(table_of(sources, output, languages=languages, vocabularies=vocabularies))
