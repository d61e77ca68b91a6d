"""What a learned reranker sees of every candidate of a mention, and of NIL, in numbers.

All are of the order of 1, so that one strength of the penalty fits all.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.languages import NO_LANGUAGE, lat
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.profiles import Profile, Profiles, Words, words_of
from spacy_bergamot.linking.rerank import Ordered
from spacy_bergamot.text import normalize

FAMILIES = {
    "order": ("score", "first", "rank"),
    "names": (
        "exact", "as written", "surface is a name", "surface 3-grams", "long form 3-grams",
        "preferred", "language",
    ),
    "prior": ("names", "sources"),
    "type": ("label",),
    "coherence": ("related", "same", "document"),
    "context": ("context in names", "context in definition", "context in relatives"),
    "hierarchy": ("specific", "general"),
}  # fmt: skip
"""Features of a candidate beside the scores of the generators, by what they have in common."""

OF_NIL = ("constant", "best score", "margin", "candidates", "exact", "repeated")
FEATURES = tuple(name for names in FAMILIES.values() for name in names)

_AROUND = 300  # characters on either side of a mention
_WIDTH = 5  # candidates of another mention that count as what it may mean


class Seen(NamedTuple):
    """A mention: features of its candidates, float64 (n, features + generators), and of NIL."""

    candidates: np.ndarray
    nil: np.ndarray


def features_of(
    mentions: Sequence[Mention],
    candidates: Ordered,
    profiles: Profiles,
    generators: Sequence[str],
) -> list[Seen]:
    """Return what is seen of the mentions of one document.

    mentions (Sequence[Mention]): Of the document.
    profiles (Profiles): Of the knowledge base's concepts.
    candidates: Of every mention, best first. generators (Sequence[str]): Keys of their scores.
    """
    document = _Document(mentions, candidates, profiles)
    return [
        Seen(
            np.array(
                [
                    [*own, *(candidate.scores.get(key, 0.0) for key in generators)]
                    for candidate, own in zip(found, _rows(mention, found, document), strict=True)
                ]
            ).reshape(len(found), len(FEATURES) + len(generators)),
            _of_nil(mention, found, document),
        )
        for mention, found in zip(mentions, candidates, strict=True)
    ]


class _Document:
    """What the mentions of a document have to do with each other."""

    def __init__(
        self, mentions: Sequence[Mention], candidates: Ordered, profiles: Profiles
    ) -> None:
        self.profiles = profiles
        self.meant: dict[str, list[tuple[Profile, float]]] = {}
        self.counts: dict[str, int] = {}
        for mention, found in zip(mentions, candidates, strict=True):
            self.counts[mention.text] = self.counts.get(mention.text, 0) + 1
            if mention.text not in self.meant:
                top = found[:_WIDTH]
                language = lat(mention.language)
                meant = [(profiles.of(c.concept_id, language), c.score) for c in top]
                self.meant[mention.text] = meant

    def support(self, mention: Mention, profile: Profile) -> tuple[float, float, float]:
        """Return how the other mentions of the document speak for a concept: three numbers.

        They are the mean, over the other mentions, of the best score of a concept that is related
        to this one; the best score of the concept itself; and whether it is another's best.

        mention (Mention): The mention.
        profile (Profile): Of the concept.
        """
        others = [found for text, found in self.meant.items() if text != mention.text]
        if not others:
            return 0.0, 0.0, 0.0
        related = [max((s for o, s in of if profile.is_near(o)), default=0.0) for of in others]
        same = [s for of in others for o, s in of if o.concept_id == profile.concept_id]
        first = any(of and of[0][0].concept_id == profile.concept_id for of in others)
        return sum(related) / len(related), max(same, default=0.0), float(first)


def _rows(mention: Mention, found: list[Candidate], document: _Document) -> list[list[float]]:
    surface = normalize(mention.surface)
    grams, long_grams = _grams(surface), _grams(normalize(mention.long_form or mention.surface))
    language = lat(mention.language)
    own, around = words_of([mention.text], language), _around(mention, language)
    profiles = [document.profiles.of(candidate.concept_id, language) for candidate in found]
    rows = []
    for rank, (candidate, profile) in enumerate(zip(found, profiles, strict=True)):
        alias = normalize(candidate.alias)
        alias_grams = _grams(alias)
        before = profiles[:rank]
        rows.append(
            [
                candidate.score,
                float(rank == 0),
                1 / (1 + rank),
                float(alias == mention.text),
                float(mention.surface in profile.names),
                float(surface in profile.forms),
                _dice(grams, alias_grams),
                _dice(long_grams, alias_grams),
                float(alias == normalize(profile.preferred)),
                float(language in NO_LANGUAGE or language == candidate.language),
                np.log1p(len(profile.names)) / 4,
                np.log1p(profile.sources),
                float(mention.label in profile.labels),
                *document.support(mention, profile),
                _overlap(around, profile.words - own),
                _overlap(around, profile.definition),
                _overlap(around, profile.around),
                float(any(other.is_above(profile) for other in before)),
                float(any(profile.is_above(other) for other in before)),
            ]
        )
    return rows


def _of_nil(mention: Mention, found: list[Candidate], document: _Document) -> np.ndarray:
    first, second = [*(candidate.score for candidate in found[:2]), 0.0, 0.0][:2]
    exact = any(normalize(candidate.alias) == mention.text for candidate in found)
    repeated = np.log(document.counts[mention.text])
    return np.array([1.0, first, first - second, np.log1p(len(found)) / 4, float(exact), repeated])


def _around(mention: Mention, language: str) -> Words:
    left = mention.context[max(0, mention.start - _AROUND) : mention.start]
    right = mention.context[mention.end : mention.end + _AROUND]
    return words_of([left, right], language)


def _overlap(one: Words, other: Words) -> float:
    """Return the cosine of two sets."""
    return len(one & other) / (len(one) * len(other)) ** 0.5 if one and other else 0.0


def _grams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
