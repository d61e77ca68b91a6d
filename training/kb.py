"""`python -m training kb`: a knowledge base of any known form to a concept table."""

import zipfile
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.scratch import Scratch
from training.ontology.cli import import_ontologies
from training.preprocess.filters import Filters
from training.preprocess.tables import build_concept_table


def kb_cli(
    sources: Annotated[
        list[Path],
        typer.Argument(help="RRF folder or archive, or ontologies and tables (see `import`)"),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the concept table")],
    languages: Annotated[str, typer.Option(help="LAT, such as ENG,SPA; all where not given")] = "",
    vocabularies: Annotated[str, typer.Option(help="SAB; all where not given")] = "",
) -> None:
    """Make a concept table: what `python -m spacy bergamot index` wants.

    Reads UMLS's RRF, OBO, OBO graphs (.json), Babelon and SSSOM tables, Orphadata's XML, and custom
    .csv, .tsv and .jsonl. For training use `import` and `preprocess` instead.
    """
    filters = Filters(languages=_split(languages), sources=_split(vocabularies))
    manifest = make_concept_table(sources, output, filters=filters)
    rows = {**manifest["rows"], "languages": manifest["counts"]["aliases_by_language"]}
    typer.echo("\n".join(f"{name:16} {count}" for name, count in rows.items()))


def make_concept_table(sources: list[Path], output: Path, *, filters: Filters) -> dict[str, Any]:
    """Write a concept table and return its manifest.

    RAISES (BergamotError): As `import` and `preprocess` do.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    if len(sources) == 1 and _is_release(sources[0]):
        return build_concept_table(sources[0], output, filters=filters)
    with Scratch(output.parent, prefix=".kb") as temporary:
        folder = Path(temporary)
        import_ontologies(sources, folder / "META")
        return build_concept_table(folder / "META", output, filters=filters)


def _is_release(path: Path) -> bool:
    if path.is_dir():
        return any(path.glob("MRCONSO.RRF*"))
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.rpartition("/")[2].startswith("MRCONSO.RRF") for name in archive.namelist())


def _split(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))
