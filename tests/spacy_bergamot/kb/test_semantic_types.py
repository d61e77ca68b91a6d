import re

from spacy_bergamot.kb.semantic_types import SemanticTypeTree, semantic_types, with_types_below

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


def test_the_tree_is_climbed_up_and_down() -> None:
    tree = SemanticTypeTree()
    disease = tree.get_node_from_id("T047")
    assert tree.get_canonical_name("T047") == disease.full_name == "Disease or Syndrome"
    above = []
    node = tree.get_parent(disease)
    while node is not None:
        above.append(node.name)
        node = tree.get_parent(node)
    assert above == [
        "Pathologic Function",
        "Biologic Function",
        "Natural Phenomenon or Process",
        "Phenomenon or Process",
        "Event",
    ]
    assert disease.level == len(above) <= tree.depth
    below = {node.type_id for node in tree.get_children(disease)}
    assert below == {"T048", "T191"}  # mental and neoplastic ones
    at_two = tree.get_collapsed_type_id_map_at_level(2)
    assert at_two["T048"] == at_two["T047"] == "T070"
    assert at_two["T051"] == "T051"
    assert len(tree.flat_nodes) == len(at_two) == 127


def test_types_below_are_those_of_the_tree() -> None:
    tree = SemanticTypeTree()

    def walk(node) -> set[str]:
        return {node.tui}.union(*map(walk, tree.get_children(node)))

    for node in semantic_types():
        assert with_types_below([node.tui]) == walk(node)
    assert with_types_below(["T047", "DISO", "T999"]) == {
        "T047", "T048", "T191", "DISO", "T999"
    }  # fmt: skip
    assert with_types_below([]) == frozenset()
