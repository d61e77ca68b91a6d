"""Whether an alias and a mention are folded alike, or one of them is misspelt."""

import pytest

from spacy_bergamot.linking.likeness import likeness
from spacy_bergamot.linking.mention import Mention
from tests.spacy_bergamot.factories import candidate

FOLDED, MISSPELT, NEITHER = (1, 0), (0, 1), (0, 0)


@pytest.mark.parametrize(
    ("text", "language", "alias", "of_alias", "expected"),
    [
        ("fevers of the bone", "ENG", "bone fever", "ENG", FOLDED),
        ("hoesten", "DUT", "Hoest", "DUT", FOLDED),
        ("hoesten", "", "Hoest", "DUT", FOLDED),  # read by the alias's language
        ("hoesten", "ENG", "Hoest", "DUT", NEITHER),
        ("diabtes mellitus", "ENG", "Diabetes mellitus", "ENG", MISSPELT),
        ("diabetees mellitus", "ENG", "Diabetes mellitus", "ENG", MISSPELT),
        ("diabedes mellitus", "ENG", "Diabetes mellitus", "ENG", MISSPELT),
        ("daibetes mellitus", "ENG", "Diabetes mellitus", "ENG", MISSPELT),
        ("гипретония", "RUS", "гипертония", "RUS", MISSPELT),
        ("diabtes melitus", "ENG", "Diabetes mellitus", "ENG", NEITHER),  # two words
        ("diabts mellitus", "ENG", "Diabetes mellitus", "ENG", NEITHER),  # two edits
        ("hyperkalemia", "ENG", "hypokalemia", "ENG", NEITHER),
        ("diabetes type 2", "ENG", "diabetes type 1", "ENG", NEITHER),
        ("ileum", "ENG", "ilium", "ENG", NEITHER),  # short
        ("左心室肥大症", "CHI", "右心室肥大症", "CHI", NEITHER),
        ("diabtes", "ENG", "diabetes mellitus", "ENG", NEITHER),
    ],
)
def test_likeness(text, language, alias, of_alias, expected):
    found = candidate("C1", 0.5, alias=alias, language=of_alias)
    assert likeness(found, Mention.alone(text, language)) == expected
