"""Mentions are looked up once, and those used last are remembered."""

from collections.abc import Sequence

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.remembered import RememberedCandidates
from tests.spacy_bergamot.factories import candidate


class Generator:
    """Answers with the mention itself, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[str, str]]] = []

    def generate(self, mentions: Sequence[tuple[str, str]], *, k: int) -> list[list[Candidate]]:
        self.asked.append(list(mentions))
        return [[candidate(text + label, 1.0)] * k for text, label in mentions]


def test_equal_mentions_are_looked_up_once_and_remembered():
    generator = Generator()
    remembered = RememberedCandidates(generator, k=2, most=2)
    asked = [("a", ""), ("b", ""), ("a", ""), ("a", "X")]
    found = remembered(asked)
    assert [[c.concept_id for c in of] for of in found] == [
        ["a"] * 2,
        ["b"] * 2,
        ["a"] * 2,
        ["aX"] * 2,
    ]
    assert remembered([("a", "X"), ("b", "")]) == [found[3], found[1]]
    assert generator.asked == [[("a", ""), ("b", ""), ("a", "X")]]
    assert len(remembered) == 2
    remembered.after_fork()
    assert remembered([("a", "")]) == [found[0]]  # it was forgotten for those after it
    assert generator.asked[1:] == [[("a", "")]]


def test_nothing_is_looked_up_for_no_mentions_and_nothing_kept_where_none_may_be():
    generator = Generator()
    remembered = RememberedCandidates(generator, k=1, most=0)
    assert remembered([]) == []
    assert generator.asked == []
    assert [c.concept_id for c in remembered([("a", "")])[0]] == ["a"]
    assert len(remembered) == 0
