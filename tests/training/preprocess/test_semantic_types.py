import re

from spacy_bergamot.kb_import.semantic_types import semantic_types

GROUPS = "ACTI ANAT CHEM CONC DEVI DISO GENE GEOG LIVB OBJC OCCU ORGA PHEN PHYS PROC"


def test_every_type_has_an_id_a_tree_number_of_its_own_and_a_group() -> None:
    types = semantic_types()
    assert len(types) == 127
    assert len({entry.tui for entry in types}) == 127
    assert len({entry.tree_number for entry in types}) == 127
    assert sorted({entry.group for entry in types}) == GROUPS.split()
    assert all(re.fullmatch(r"T\d{3}", entry.tui) for entry in types)


def test_the_tree_has_no_gaps() -> None:
    numbers = {entry.tree_number for entry in semantic_types()}
    for number in numbers - {"A", "B"}:
        above = number.rpartition(".")[0] or number[0]
        assert above in numbers


def test_well_known_types() -> None:
    groups = {entry.tui: (entry.name, entry.group) for entry in semantic_types()}
    assert groups["T047"] == ("Disease or Syndrome", "DISO")
    assert groups["T121"] == ("Pharmacologic Substance", "CHEM")
    assert groups["T023"] == ("Body Part, Organ, or Organ Component", "ANAT")
