"""What a pipeline's knowledge base holds."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.kb.concept_table import ConceptTable
from training.card.sources import sources_of

if TYPE_CHECKING:
    from spacy_bergamot.pipeline.parts import LinkerParts


def knowledge_facts(parts: "LinkerParts", release: list[dict[str, str]]) -> dict[str, Any]:
    """Return counts of concepts and names, languages, semantic groups, sources, and changes.

    release (list[dict[str, str]]): What the manifest of the concept table says of its sources.
    """
    table = parts.index.table
    definitions = table.column("concepts", "definition")
    facts: dict[str, Any] = {
        "concepts": len(table),
        "names": table.aliases.num_rows,
        "distinct_names": len(parts.index),
        "definitions": len(definitions) - definitions.null_count,
        "relations": table.relations.num_rows,
        "typed_concepts": len(pc.unique(table.column("types", "concept"))),
        "groups": _groups(table),
        "languages": _counts(table.column("aliases", "language")),
        "sources": sources_of(table, release),
    }
    if parts.changes is not None:
        facts["changes"] = parts.changes.counts
    return facts


def _counts(column: pa.Array) -> dict[str, int]:
    """Return how often each value comes, the commonest first."""
    found = {str(row["values"]): row["counts"] for row in pc.value_counts(column).to_pylist()}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _groups(table: ConceptTable) -> dict[str, int]:
    """Return the number of concepts of each semantic group; a concept may have several."""
    pairs = table.types.select(["concept", "group"]).group_by(["concept", "group"]).aggregate([])
    counts = Counter(pairs["group"].cast(pa.string()).to_pylist())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
