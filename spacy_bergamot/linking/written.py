"""Concepts whose names are equal in normal form, told apart by language and capitals."""

from dataclasses import replace
from itertools import takewhile

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.languages import NO_LANGUAGE, lat
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.text import normalize

SETTLED = 0.9
"""What is left of the score of a concept that is equal but for the way in which it is written."""


def as_written(mention: Mention, candidates: list[Candidate], index: AliasIndex) -> list[Candidate]:
    """Order the best candidates where their scores are equal: those written alike come first.

    First come concepts that have the alias in the mention's language, if that is known: German
    *Hypertonie* is hypertension, in Dutch and Czech it is a muscle's. Then those that are, as the
    mention, in capitals or not: *COLD* is a disease of the lung and *cold* an infection. In normal
    form they are equal, and all have score 1. A text that is all in capitals says nothing of them.
    What comes behind the first so has `SETTLED` of its score: it leaves no doubt, as a tie would.

    mention (Mention): What is linked.
    candidates (list[Candidate]): Best first.
    index (AliasIndex): Has the aliases in every language.
    """
    equal = [*takewhile(lambda one: one.score == candidates[0].score, candidates)]
    if mention.language and (len(equal) > 1 or (equal and equal[0].score == 1)):
        equal = [_in_language(one, lat(mention.language), index) for one in equal]
    all_capitals = mention.context.isupper() and mention.context != mention.surface
    capitals = (mention.long_form or mention.surface).isupper()

    own = {lat(mention.language), *NO_LANGUAGE}

    def differs(one: Candidate) -> tuple[bool, bool]:
        other = bool(mention.language) and lat(one.language) not in own
        return other, not all_capitals and one.alias.isupper() != capitals

    if len(equal) < 2:
        return equal + candidates[len(equal) :]
    best = min(map(differs, equal))
    settled = [
        one if differs(one) == best else replace(one, score=round(SETTLED * one.score, 6))
        for one in sorted(equal, key=differs)
    ]
    return sorted([*settled, *candidates[len(equal) :]], key=lambda one: -one.score)


def _in_language(candidate: Candidate, language: str, index: AliasIndex) -> Candidate:
    """Return a candidate with its alias as a language has it too, if it does."""
    if lat(candidate.language) == language:
        return candidate
    found = index.alias_in(normalize(candidate.alias), candidate.concept_id, language)
    if found is None:
        return candidate
    return replace(
        candidate, alias=found["alias"], language=found["language"], source=found["source"]
    )
