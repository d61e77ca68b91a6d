"""Labels of common NER models: what they stand for, and which of them are never clinical."""

import pytest

from spacy_bergamot.kb.entity_labels import entity_labels, never_clinical, types_of_label
from spacy_bergamot.kb.semantic_types import GROUP_NAMES, semantic_types, with_types_below


def test_every_label_stands_for_types_and_groups_that_there_are() -> None:
    known = {*GROUP_NAMES, *(one.tui for one in semantic_types())}
    for label, types in entity_labels().items():
        assert label == label.upper()
        assert types <= known, label
    assert not known & entity_labels().keys()


@pytest.mark.parametrize(
    ("label", "types"),
    [
        ("DISEASE", {"DISO"}),
        ("Disease", {"DISO"}),
        ("Medication", {"CHEM"}),
        ("TREATMENT", {"PROC", "CHEM", "DEVI"}),
        ("gene or gene-product", {"GENE", "CHEM"}),
        ("DISO", {"DISO"}),
        ("T047", {"T047", "T048", "T191"}),
        ("T116,T123", {"T116"} | with_types_below(["T123"])),
        ("ORG", set()),
        ("ENTITY", set()),
        ("", set()),
    ],
)
def test_what_a_label_stands_for(label: str, types: set[str]) -> None:
    assert types_of_label(label) == types


def test_labels_that_are_never_clinical_are_those_of_general_models() -> None:
    assert {"PERSON", "ORG", "DATE"} <= set(never_clinical())
    assert not {"DISEASE", "DRUG", "QUANTITY", "ENTITY"} & set(never_clinical())
