"""`python -m training import`: ontologies in, a knowledge base in RRF form out."""

import logging
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.classifications import add_parents
from spacy_bergamot.kb_import.ontology.files import read_sources
from spacy_bergamot.kb_import.ontology.merge import merge_terms
from spacy_bergamot.kb_import.ontology.records import Records
from spacy_bergamot.kb_import.ontology.release import write_release
from spacy_bergamot.kb_import.progress import timed
from spacy_bergamot.text import comma_separated

_SHOWN = 5

logger = logging.getLogger(__name__)


def import_cli(
    sources: Annotated[
        list[Path], typer.Argument(help="Ontologies and tables, or folders of them")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the RRF files")],
    prefer: Annotated[
        str, typer.Option(help="Ontologies whose accession becomes the id where no CUI is agreed")
    ] = "MONDO,HP,DOID,ORPHA",
    reviewed_only: Annotated[
        bool, typer.Option("--reviewed-only", help="Suppress translations that nobody has reviewed")
    ] = False,
) -> None:
    """Merge ontologies and tables into a knowledge base that `preprocess` reads.

    Reads OBO, OBO graphs (.json), Babelon and SSSOM tables, Orphadata's XML, ClaML, the text files
    of ICD-10-GM, OPS and ICD-10 under the names that they are published by, ATC (atc_code, name),
    edges (x, p, y), and custom .csv, .tsv and .jsonl with id, name and optionally language,
    synonyms, abbreviations, term_type, suppress, exclusive, type, parents, xrefs, definition,
    source and code. Each may be packed: .gz, .xz, .bz2, .zip, .tar and .tar.gz. Broad and related
    synonyms are written as suppressed rows. A table with source (a prefix such as HP) and version,
    licence, name or address says of the sources what their files do not; one with predicate, rela,
    rel and inverse what relations are called.

    Terms of several ontologies are one concept if a mapping says so, if they alone of their
    ontology refer to the same CUI, or if both are of published ontologies and have the same English
    label, word order and plural aside, and the same semantic group. Two terms of one ontology are a
    concept if a mapping says owl:sameAs, or if each has the other's English label among its names.
    """
    preferred = comma_separated(prefer)
    rows = import_ontologies(sources, output, prefer=preferred, reviewed_only=reviewed_only)
    typer.echo("\n".join(f"{name:16} {count}" for name, count in rows.items()))


def import_ontologies(
    sources: list[Path], output: Path, *, prefer: tuple[str, ...] = (), reviewed_only: bool = False
) -> dict[str, int]:
    """Write the RRF files and return their numbers of rows.

    sources (Sequence[Path]): Files and folders. output (Path): Folder of the RRF files.
    prefer (Sequence[str]): Prefixes of the ontologies whose ids and names come first.
    reviewed_only (bool): Suppress translations that nobody has reviewed, such as a machine's.
    RAISES (BergamotError): T116 and B001 for a broken or missing file, T118 without a name.
    """
    records = Records(reviewed_only=reviewed_only)
    with timed("Reading the files"):
        read = read_sources(sources, records)
        records.drop_obsolete()
        add_parents(records)
    unread = [file for file, known in read.items() if not known]
    if not records.names:
        others = [f"{file.name} is of no known form" for file in unread]
        others += [f"the columns of {name} are {of}" for name, of in records.columns.items()]
        others += [f"{file.name} has none" for file, known in read.items() if known]
        more = ["…"] if others[_SHOWN:] else []
        problems = "; ".join([*records.notes, *others[:_SHOWN], *more])
        paths = ", ".join(map(str, sources))
        raise BergamotError(Errors.T118, path=paths, files=problems or "it is empty")
    if unread:
        logger.warning("Not read, of no known form: %s", ", ".join(f.name for f in unread))
    known = {kind.tui for kind in semantic_types()}
    types = Counter(tui for _, tui in records.types if tui not in known)
    if types:
        shown = ", ".join(f"{tui} ({count})" for tui, count in types.most_common(_SHOWN))
        logger.warning("No semantic types of UMLS, so that they have no group: %s", shown)
    if records.notes:
        logger.warning("Malformed rows and names, skipped:\n%s", "\n".join(records.notes))
    with timed("Merging and writing"):
        rows = write_release(output, records, merge_terms(records, prefer))
    for why, count in sorted(records.skipped.items()):
        if count:
            logger.info("Left out: %d %s", count, why)
    return rows
