"""The distinct normal forms of a table, and where they stand in it."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.hashing import string_key
from spacy_bergamot.index.alias_strings import index_strings, write_strings
from spacy_bergamot.kb.concept_table import ConceptTable, read_arrow
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import write_concepts


@pytest.fixture
def table(tmp_path: Path) -> ConceptTable:
    known = {
        "C01": ("T047", {"ENG": ["Fever", "?!", "FEVER"], "GER": ["fever", "-"]}),
        "C02": ("T047", {"ENG": ["Heart  attack", "fever"], "JPN": ["発熱"]}),
    }
    return ConceptTable.open(write_concepts(tmp_path / "kb", known))


def test_strings_are_normal_forms_of_aliases_that_have_letters(table: ConceptTable):
    strings, kept, rows = index_strings(table)
    aliases = table.aliases["alias"].to_pylist()
    named = [row for row, alias in enumerate(aliases) if alias not in ("?!", "-")]
    assert rows.tolist() == named
    assert kept.to_pylist() == [normalize(aliases[row]) for row in named]
    assert strings.to_pylist() == sorted({normalize(aliases[row]) for row in named})


def test_what_is_written_leads_from_a_string_to_its_aliases(table: ConceptTable, tmp_path: Path):
    strings = write_strings(tmp_path, table).to_pylist()
    assert read_arrow(tmp_path / "strings.arrow")["string"].to_pylist() == strings
    indptr, postings, keys, key_rows = (
        np.load(tmp_path / f"{name}.npy")
        for name in ("postings_indptr", "postings", "keys", "key_rows")
    )
    aliases = table.aliases["alias"].to_pylist()
    for row, string in enumerate(strings):
        own = postings[indptr[row] : indptr[row + 1]].tolist()
        assert own == [n for n, alias in enumerate(aliases) if normalize(alias) == string]
    assert keys.tolist() == sorted(map(string_key, strings))
    assert [string_key(strings[row]) for row in key_rows] == keys.tolist()


def test_a_table_without_names_is_refused(tmp_path: Path):
    path = write_concepts(tmp_path / "kb", {"C01": ("T047", {"ENG": ["?!"]})})
    with pytest.raises(BergamotError, match="B023"):
        index_strings(ConceptTable.open(path))
