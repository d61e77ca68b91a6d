"""A knowledge base of any known form to a concept table."""

import zipfile
from pathlib import Path
from typing import Any

from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.release import tables_in
from spacy_bergamot.languages import lat
from spacy_bergamot.storage.scratch import Scratch
from spacy_bergamot.text import comma_separated


def table_of(
    sources: list[Path], output: Path, *, languages: str = "", vocabularies: str = ""
) -> str:
    """Write a concept table and return its counts, one per line.

    sources (list[Path]): RRF folder or archive, or ontologies and tables.
    output (Path): Folder of the concept table.
    languages (str): Of names that are kept, ENG,SPA or en,es; all where empty.
    vocabularies (str): SAB of names that are kept; all where empty.
    RAISES (BergamotError): As `import` and `preprocess` do.
    """
    wanted = tuple(map(lat, comma_separated(languages)))
    filters = Filters(languages=wanted, sources=comma_separated(vocabularies))
    manifest = make_concept_table(sources, output, filters=filters)
    rows = {**manifest["rows"], "languages": manifest["counts"]["aliases_by_language"]}
    return "\n".join(f"{name:16} {count}" for name, count in rows.items())


def make_concept_table(
    sources: list[Path], output: Path, *, filters: Filters, add_inverses: bool = False
) -> dict[str, Any]:
    """Write a concept table and return its manifest.

    sources (list[Path]): As of `table_of`.
    output (Path): Folder of the concept table.
    filters (Filters): What is left out.
    add_inverses (bool): As `build_concept_table` takes it.
    RAISES (BergamotError): T470 for a release beside other files; as `import` and `preprocess` do.
    """
    releases = [source for source in sources if _is_release(source)]
    if releases and len(sources) > 1:
        raise BergamotError(Errors.T470, path=releases[0])
    output.parent.mkdir(parents=True, exist_ok=True)
    if releases:
        return build_concept_table(sources[0], output, filters=filters, add_inverses=add_inverses)
    with Scratch(output.parent, prefix=".kb") as folder:
        import_ontologies(sources, folder / "META")
        return build_concept_table(
            folder / "META", output, filters=filters, add_inverses=add_inverses, is_imported=True
        )


def _is_release(path: Path) -> bool:
    if path.is_dir():
        return any(path.glob("MRCONSO.RRF*"))
    return zipfile.is_zipfile(path) and "MRCONSO" in tables_in(path)
