"""A dictionary of names: it has every one of its table, also when names change."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.hashing import WindowKeys
from spacy_bergamot.kb.concept_table import ConceptTable, Name
from spacy_bergamot.mentions.dictionary import MentionKeys
from spacy_bergamot.name_keys import keyed
from tests.spacy_bergamot.conftest import write_concepts


@pytest.fixture(scope="module")
def table(concepts: Path) -> ConceptTable:
    return ConceptTable.open(concepts)


@pytest.fixture(scope="module")
def keys(table: ConceptTable, tmp_path_factory: pytest.TempPathFactory) -> MentionKeys:
    path = tmp_path_factory.mktemp("keys") / "keys"
    MentionKeys.write(path, table)
    return MentionKeys(path)


def test_a_dictionary_has_every_name_of_its_table(keys: MentionKeys, table: ConceptTable):
    aliases = table.aliases.to_pylist()
    assert len(keys) == len({keyed(row["alias"]) for row in aliases})
    assert set(keys.languages) == {row["language"] for row in aliases}
    assert keys.longest == max(len(keyed(row["alias"])) for row in aliases)
    assert (keys.table, keys.changes) == (table.fingerprint, None)


NAMES = st.sampled_from(
    [Name("fever", "ENG", "DISO"), Name("cold", "ENG", "DISO"), Name("MRI", "ENG", "PROC"),
     Name("zebras", "ENG", ""), Name("ноги", "RUS", "ANAT"), Name("糖尿病", "JPN", "DISO")]
)  # fmt: skip


@settings(max_examples=10)
@given(st.lists(NAMES, max_size=3, unique=True))
def test_names_that_come_and_go_leave_the_dictionary_as_it_was(
    keys: MentionKeys, tmp_path_factory: pytest.TempPathFactory, names: list[Name]
):
    folder = tmp_path_factory.mktemp("changed")
    aliases = [name.alias for name in names]
    there = [name for name in names if name.language == "ENG" and name.group]  # those of the table
    keys.changed(folder / "less", aliases, there, [], changes="x")
    less = MentionKeys(folder / "less")
    assert len(less) == len(keys) - len({"fever", "cold", "MRI", "糖尿病"} & set(aliases))
    assert (less.table, less.changes) == (keys.table, "x")
    less.changed(folder / "more", aliases, [], names, changes=None)
    more = MentionKeys(folder / "more")
    assert len(more) == len(keys) + len({"zebras", "ноги"} & set(aliases))


def test_abbreviations_of_a_length_that_has_too_many_are_left_out(tmp_path: Path):
    three = ["".join(letters) for letters in product("ABCDEF", repeat=3)]  # 216 of 17,576
    names = [*three, "ABCD", "A12", "abdominal aortic aneurysm"]
    table = {f"C{n}": ("T047", {"ENG": [name]}) for n, name in enumerate(names)}
    MentionKeys.write(tmp_path / "keys", ConceptTable.open(write_concepts(tmp_path / "kb", table)))
    keys = MentionKeys(tmp_path / "keys")
    assert (keys.crowded, len(keys)) == ([3], 3)
    now = [Name("ABC", "ENG", "DISO"), Name("DEF", "ENG", "DISO")]
    keys.changed(tmp_path / "more", ["ABC", "DEF"], now, now, added=["DEF"], changes="x")
    more = MentionKeys(tmp_path / "more")
    assert (more.crowded, len(more)) == ([3], 4)
    assert WindowKeys.of([keyed("DEF")]) in more.rows.keys


def test_languages_and_groups_are_chosen_by_name(keys: MentionKeys):
    chosen = dict(zip(keys.languages, keys.of_languages(["de", "SPA"]).tolist(), strict=True))
    assert {language for language, is_in in chosen.items() if is_in} == {"GER", "SPA"}
    assert keys.of_languages([]).all()
    by_name = keys.of_groups(["CHEM"], discarded=["CHEM"])
    assert [g for g, is_in in zip(keys.groups, by_name, strict=True) if is_in] == ["CHEM"]
    others = keys.of_groups([], discarded=["CHEM"])
    assert [g for g, is_in in zip(keys.groups, others, strict=True) if not is_in] == ["CHEM"]


@pytest.mark.parametrize(
    ("languages", "groups", "value"), [(["fi"], [], "FIN"), ([], ["NONE"], "NONE")]
)
def test_what_it_does_not_have_is_refused(keys: MentionKeys, languages, groups, value: str):
    keys.check(languages=["de", "ENG"], groups=["DISO"], name="x")
    with pytest.raises(BergamotError, match=rf"B033.*{value}"):
        keys.check(languages=languages, groups=groups, name="x")
