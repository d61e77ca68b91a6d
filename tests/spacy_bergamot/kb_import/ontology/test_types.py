"""Semantic types of terms, by the branch that they are in."""

from pathlib import Path

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies


def test_a_term_has_the_type_of_its_branch(tmp_path: Path):
    terms = {
        "HP:0000001": ("All", None),
        "HP:0000118": ("Phenotypic abnormality", "HP:0000001"),
        "HP:0000005": ("Mode of inheritance", "HP:0000001"),
        "HP:1": ("fever", "HP:0000118"),
        "HP:2": ("very high fever", "HP:1"),
        "HP:3": ("by halves", "HP:0000005"),
        "HP:4": ("severe", "HP:0000001"),
        "HP:5": ("of no branch", None),
        "HP:6": ("obsolete chill", "HP:1"),
        "SO:1": ("single", None),
        "MINE:1": ("of one's own", "HP:1"),
    }
    frames = (
        f"[Term]\nid: {term}\nname: {name}\n" + (f"is_a: {parent}\n" if parent else "")
        for term, (name, parent) in terms.items()
    )
    (tmp_path / "hp.obo").write_text("format-version: 1.2\n\n" + "\n".join(frames))
    import_ontologies([tmp_path / "hp.obo"], tmp_path / "META")
    build_concept_table(tmp_path / "META", tmp_path / "kb", filters=Filters(), max_malformed=0)
    table = ConceptTable.open(tmp_path / "kb")
    types = {term: list(table[term].types) for term in table}
    assert types == {
        "HP:0000001": ["T080"],
        "HP:0000118": ["T033"],
        "HP:0000005": ["T045"],
        "HP:1": ["T033"],
        "HP:2": ["T033"],
        "HP:3": ["T045"],
        "HP:4": ["T080"],
        "HP:5": ["T033"],
        "SO:1": ["T086"],
        "MINE:1": [],
    }
