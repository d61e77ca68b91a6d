"""From answers to candidates with other scores, NIL among them."""

from collections.abc import Sequence
from dataclasses import replace

from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.llm.answer import Answer
from spacy_bergamot.linking.llm.prompt import Question

_PART = "llm"
_DECIMALS = 6


def ranked(found: list[Candidate], given: Sequence[tuple[Question, Answer]]) -> list[Candidate]:
    """Return the candidates of a mention in the order of the answers; without any, as they are.

    The score of a candidate is its probability, averaged over the questions, and 0 if it was not
    asked about. Where one letter is all that was answered, its candidate has 1, and the others
    keep their order at half their scores.

    found (Sequence[Candidate]): Its candidates, best first.
    given: The questions about the mention that were answered.
    """
    if not given:
        return found
    places = given[0][0].places
    shares: dict[int | None, float] = dict.fromkeys(places, 0.0)
    for question, answer in given:
        scores = answer.scores or [float(n == answer.chosen) for n in range(len(places))]
        for place, score in zip(question.places, scores, strict=True):
            shares[place] += score / len(given)
    is_letter = len(given) == 1 and given[0][1].scores is None

    def scored(candidate: Candidate, share: float | None) -> Candidate:
        score = share or (0.5 * candidate.score if is_letter else 0.0)
        part = {} if share is None else {_PART: round(share, _DECIMALS)}
        parts = {**candidate.scores, **part}
        return replace(candidate, score=round(score, _DECIMALS), scores=parts)

    changed = [scored(candidate, shares.get(place)) for place, candidate in enumerate(found)]
    if None in shares:  # before those that were not asked about
        nil = Candidate(NIL, 0.0, "", "", "", _PART)
        changed.insert(len(places) - 1, scored(nil, shares[None]))
    return sorted(changed, key=lambda candidate: -candidate.score)
