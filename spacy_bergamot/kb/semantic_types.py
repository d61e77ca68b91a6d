"""The UMLS Semantic Network's types, their groups and their tree, with scispaCy's names for it."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GROUP_NAMES = {
    "ACTI": "Activities & behaviours", "ANAT": "Anatomy", "CHEM": "Chemicals & drugs",
    "CONC": "Concepts & ideas", "DEVI": "Devices", "DISO": "Disorders",
    "GENE": "Genes & molecular sequences", "GEOG": "Geographic areas", "LIVB": "Living beings",
    "OBJC": "Objects", "OCCU": "Occupations", "ORGA": "Organizations", "PHEN": "Phenomena",
    "PHYS": "Physiology", "PROC": "Procedures",
}  # fmt: skip
"""English names of the semantic groups."""


@dataclass(frozen=True)
class SemanticType:
    """A semantic type: its id, its tree number, its name and its group.

    Tree numbers begin with A for entities and with B for events: A1.1 is below A1.
    """

    tui: str
    tree_number: str
    name: str
    group: str

    @property
    def type_id(self) -> str:
        """The id, as scispaCy calls it."""
        return self.tui

    @property
    def full_name(self) -> str:
        """The name, as scispaCy calls it."""
        return self.name

    @property
    def level(self) -> int:
        """Types above it: 0 for entity and event."""
        return len(self.tree_number[1:].split(".")) if self.tree_number[1:] else 0


@cache
def semantic_types() -> tuple[SemanticType, ...]:
    """Return all semantic types, in order of their ids."""
    path = Path(__file__).with_name("semantic_types.tsv")
    with path.open(encoding="utf8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t")
        next(rows)
        return tuple(SemanticType(*row) for row in rows)


def with_types_below(types: Iterable[str]) -> frozenset[str]:
    """Return semantic types and all that lie below them in the tree.

    types (Iterable[str]): Ids of semantic types; semantic groups stay as they are.
    """
    return frozenset().union(*map(_with_below, types))


@cache
def _with_below(given: str) -> frozenset[str]:
    tops = {one.tree_number for one in semantic_types() if one.tui == given}
    below = (one.tui for one in semantic_types() if tops & _upwards(one.tree_number))
    return frozenset({given, *below})


def _upwards(number: str) -> set[str]:
    """Return a tree number and those above it: A1.2, A1 and A."""
    parts = number[1:].split(".")
    return {number[0] + ".".join(parts[:length]) for length in range(len(parts) + 1)}


class SemanticTypeTree:
    """The tree of semantic types: `linker.kb.semantic_type_tree`.

    flat_nodes (list[SemanticType]): All of them, in the order of the tree.
    depth (int): Levels below entity and event.
    """

    def __init__(self) -> None:
        self.flat_nodes = list(semantic_types())
        self.depth = max(node.level for node in self.flat_nodes)
        self._by_id = {node.tui: node for node in self.flat_nodes}
        self._by_number = {node.tree_number: node for node in self.flat_nodes}

    def get_node_from_id(self, type_id: str) -> SemanticType:
        """Return the type of an id, such as T047.

        type_id (str): TUI.
        RAISES (KeyError): If there is none.
        """
        return self._by_id[type_id]

    def get_canonical_name(self, type_id: str) -> str:
        """Return the name of an id.

        type_id (str): TUI.
        RAISES (KeyError): If there is none.
        """
        return self._by_id[type_id].name

    def get_parent(self, node: SemanticType) -> SemanticType | None:
        """Return the type above, None for entity and event.

        node (SemanticType): A type.
        """
        if not node.level:
            return None
        above = node.tree_number.rpartition(".")[0] or node.tree_number[0]
        return self._by_number[above]

    def get_children(self, node: SemanticType) -> list[SemanticType]:
        """Return the types right below.

        node (SemanticType): A type.
        """
        return [other for other in self.flat_nodes if self.get_parent(other) == node]

    def get_collapsed_type_id_map_at_level(self, level: int) -> dict[str, str]:
        """Return for every id that of its type at a level, or its own where it is higher up."""
        return {node.tui: self._at(node, level).tui for node in self.flat_nodes}

    def _at(self, node: SemanticType, level: int) -> SemanticType:
        above = self.get_parent(node)
        return self._at(above, level) if above is not None and node.level > level else node
