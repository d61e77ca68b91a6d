"""Concepts that filters drop are said once."""

from spacy_bergamot.linking.dropped import Dropped, each_once


def test_each_concept_is_said_once_by_its_best_name():
    cold = Dropped("C1", "cold", "lexical", 0.5, "language JPN")
    best = Dropped("C1", "common cold", "dense", 0.9, "language JPN")
    other = Dropped("C2", "chill", "dense", 0.7, "semantic type")
    assert each_once([cold, other, best]) == [best, other]
    assert each_once([]) == []
