"""A concept table of invented ontologies."""

from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from tests.spacy_bergamot.kb_import.ontology.invented import write_sources


@pytest.fixture
def table(tmp_path: Path) -> ConceptTable:
    import_ontologies([write_sources(tmp_path / "raw")], tmp_path / "META", prefer=("ZO",))
    build_concept_table(tmp_path / "META", tmp_path / "kb", filters=Filters(), max_malformed=0)
    return ConceptTable.open(tmp_path / "kb")
