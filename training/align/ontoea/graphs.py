"""What OntoEA learns from: the hierarchies and semantic types of two concept tables."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from spacy_bergamot.kb.concept_table import ConceptTable
from training.align.ontoea.classes import Classes
from training.errors import BergamotError, Errors
from training.parents import parent_edges

MOST = 60_000
"""Concepts of a side: every one is compared with every other, and the nearest tenth is kept."""


@dataclass(frozen=True)
class Graphs:
    """Two graphs whose entities are numbered together, those of the left one first.

    sizes (tuple[int, int]): Entities of either side.
    triples (int64 (n, 3)): Head, relation and tail; no triple joins the sides.
    classes (Classes): Of the entities of both.
    members (csr_matrix float32 (entities, classes)): 1 where an entity is of a class.
    """

    sizes: tuple[int, int]
    triples: np.ndarray
    classes: Classes
    members: csr_matrix

    @classmethod
    def of(cls, left: ConceptTable, right: ConceptTable) -> "Graphs":
        """Read two concept tables: their parents, and what is broader, in either direction.

        RAISES (BergamotError): B240 for too many concepts, B241 without a hierarchy.
        """
        triples, owners, types = [], [], []
        for side, table, start in (("left", left, 0), ("right", right, len(left))):
            if len(table) > MOST:
                raise BergamotError(Errors.B240, side=side, count=len(table), most=MOST)
            edges = parent_edges(table)
            found = edges[edges[:, 0] != edges[:, 2]]
            if not len(found):
                raise BergamotError(Errors.B241, side=side)
            triples.append(found + np.array([start, 0, start]))
            owners.append(table.keys("types") + start)
            types += table.column("types", "type").to_pylist()
        classes = Classes.of(types)
        row = {one: place for place, one in enumerate(classes.ids)}
        at = np.array([row[one] for one in types], dtype=np.int64)
        entities = len(left) + len(right)
        ones = np.ones(len(at), dtype=np.float32)
        shape = (entities, len(classes.ids))
        members = csr_matrix((ones, (np.concatenate(owners), at)), shape=shape)
        members.data[:] = 1  # a type may be given twice
        return cls((len(left), len(right)), np.concatenate(triples), classes, members)

    def entities(self, pairs: np.ndarray) -> np.ndarray:
        """Return pairs of left and right rows as pairs of entities, int64 (n, 2)."""
        return pairs + np.array([0, self.sizes[0]])
