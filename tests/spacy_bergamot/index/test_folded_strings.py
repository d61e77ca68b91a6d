"""Strings of an index by the folded forms of their aliases."""

from pathlib import Path

import pytest

from spacy_bergamot.hashing import find_keys
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.folded_strings import FoldedStrings
from spacy_bergamot.languages import lat
from spacy_bergamot.name_keys import CAPITALS, folded_name, keyed
from spacy_bergamot.text import normalize


def by_a_loop(index: AliasIndex, name: str, languages: list[str]) -> list[str]:
    """Return the normal forms of the aliases that have the name's folded form in a language."""
    found = set()
    for row in index.table.aliases.to_pylist():
        language = lat(row["language"])
        if language in languages and not keyed(row["alias"]).startswith(CAPITALS):
            forms = [
                sorted(word.folded for word in folded_name(text, language))
                for text in (name, row["alias"])
            ]
            if forms[0] and forms[0] == forms[1]:
                found.add(normalize(row["alias"]))
    return sorted(found)


@pytest.mark.parametrize(
    ("name", "languages"),
    [("heart attacks", ["ENG"]), ("attack of the heart", ["ENG"]), ("heart attacks", ["GER"]),
     ("fevers", ["ENG", "GER"]), ("сахарным диабетом", ["RUS"]), ("colds", []), ("", ["ENG"]),
     ("糖尿病", ["JPN"]), ("nothing of it", ["ENG"]), ("mris", ["ENG"])],
)  # fmt: skip
def test_it_finds_what_a_loop_over_all_aliases_finds(index: AliasIndex, name, languages):
    found = index.folded.find(name, languages)
    assert [index.strings[row].as_py() for row in found] == by_a_loop(index, name, languages)


def test_an_inflected_name_is_found(index: AliasIndex):
    (found,) = index.folded.find("heart attacks", ["ENG"])
    assert index.strings[int(found)].as_py() == "heart attack"


def test_an_index_without_folded_forms_has_none(tmp_path: Path):
    assert FoldedStrings(tmp_path, ["ENG"]).find("heart attacks", ["ENG"]).tolist() == []


def test_keys_are_sorted(index: AliasIndex):
    keys = index.folded._keys
    assert len(keys)
    assert (find_keys(keys, keys[:1]) == 0).all()
    assert (keys[1:] >= keys[:-1]).all()
