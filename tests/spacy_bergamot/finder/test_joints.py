"""Units between mentions: which they are, by language, and where a mention is cut or ends."""

import numpy as np
import pytest

from spacy_bergamot.finder.decode import decode
from spacy_bergamot.finder.joints import beside, joints_of

SURE, HALF = 0.01, 0.45
"""Probability of being outside of a unit that the model has no doubt of, and of one that it has."""


def found(words: str, languages: list[str]) -> list[str]:
    """Return what is marked where the model marks all words, with a doubt of those with a star."""
    units = words.replace("*", "").split()
    outside = np.array([HALF if word.endswith("*") else SURE for word in words.split()])
    begins = np.arange(len(units)) == 0
    scores = np.stack([outside, (1 - outside) * begins, (1 - outside) * ~begins], axis=1)
    with np.errstate(divide="ignore"):
        mentions = decode(np.log(scores), joints_of(units, languages))
    return [" ".join(units[mention.first : mention.stop]) for mention in mentions]


@pytest.mark.parametrize(
    ("language", "words", "expected"),
    [
        # Two mentions, and one that a coordinator is part of.
        ("SPA", "infarto de miocardio y* long QT", ["infarto de miocardio", "long QT"]),
        ("ENG", "diabetes and* hypertension ,* asthma", ["diabetes", "hypertension", "asthma"]),
        ("ENG", "breast and ovarian cancer", ["breast and ovarian cancer"]),
        ("CHI", "头 痛 和* 发 热", ["头 痛", "发 热"]),
        # It begins or ends in a function word, or in punctuation.
        ("SPA", "la* hipertensión", ["hipertensión"]),
        ("SPA", "asma y*", ["asma"]),
        ("RUS", "кашель с*", ["кашель"]),
        ("ENG", "kidney cancer ,* or*", ["kidney cancer"]),
        ("ENG", "and* the*", []),
        # Only a coordinator joins two mentions, only in its language, only in small letters.
        ("POR", "dor no* peito", ["dor no peito"]),
        ("ENG", "cancer -* associated disease", ["cancer - associated disease"]),
        ("ENG", "asma y* tos", ["asma y tos"]),
        ("SPA", "HEPATITIS E*", ["HEPATITIS E"]),
        ("ENG", "hepatitis a", ["hepatitis a"]),
        ("ENG", "pain ( chest )*", ["pain ( chest )"]),
        ("JPN", "う つ*", ["う つ"]),
        # A bracket has its partner in the mention.
        ("GER", "STEMI ) der Hinterwand", ["STEMI"]),
        ("ENG", "pain [ chest", ["pain"]),
        ("ENG", ") pain", []),
        ("ENG", "pain ( chest ) ( left", ["pain ( chest )"]),
    ],
)
def test_what_the_model_doubts_between_mentions_is_outside(language, words, expected):
    assert found(words, [language]) == expected


def test_a_text_in_any_of_several_languages():
    assert found("asma y* tos und* fiebre", ["SPA", "GER"]) == ["asma", "tos", "fiebre"]
    assert joints_of([], ["SPA"]).between.dtype == bool


def test_mentions_are_cut_beside_names_alone():
    joints = joints_of(["asma", "y", "tos", ",", "mal", ",", "fiebre"], ["SPA"])
    assert np.flatnonzero(joints.between).tolist() == [1, 3, 5]
    assert np.flatnonzero(beside(joints, [(0, 1), (6, 7)]).between).tolist() == [1, 5]
    assert not beside(joints, []).between.any()
    assert (beside(joints, []).loose == joints.loose).all()
