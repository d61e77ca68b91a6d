"""Concepts whose names are equal in normal form, told apart by capitals."""

from itertools import takewhile

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention


def as_written(mention: Mention, candidates: list[Candidate]) -> list[Candidate]:
    """Order the best candidates where their scores are equal: those written alike come first.

    Alike are a mention and an alias that are both in capitals, or both not. *COLD* is a disease of
    the lung and *cold* an infection; in normal form they are equal, and both have score 1. A text
    that is all in capitals says nothing.

    mention (Mention): What is linked.
    candidates (list[Candidate]): Best first.
    """
    if mention.context.isupper() and mention.context != mention.surface:
        return candidates
    equal = [*takewhile(lambda one: one.score == candidates[0].score, candidates)]
    capitals = (mention.long_form or mention.surface).isupper()
    equal.sort(key=lambda one: one.alias.isupper() != capitals)
    return equal + candidates[len(equal) :]
