"""A concept table without the names that were held out of it."""

from pathlib import Path

import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import SCHEMAS
from spacy_bergamot.text import normalize
from training.corpora.dictionary import read_dictionary


def without_names(kb: Path, dictionary: Path, output: Path) -> Path:
    """Write the table with those aliases alone that a dictionary of `CUI||name` lines has."""
    if output.exists():
        return output
    table = ConceptTable.open(kb)
    known = {
        (concept, normalize(name))
        for concepts, name in read_dictionary(dictionary)
        for concept in concepts.split("|")
    }
    ids = table.column("concepts", "concept_id").to_pylist()
    rows = zip(
        table.keys("aliases").tolist(), table.column("aliases", "alias").to_pylist(), strict=True
    )
    kept = pa.array([(ids[concept], normalize(alias)) in known for concept, alias in rows])
    tables = {name: getattr(table, name) for name in SCHEMAS}
    tables["aliases"] = table.aliases.filter(kept)
    ConceptTable.write(output, tables, release=table.manifest.get("release", []))
    return output
