"""Filters: what is left out of a concept table, everywhere, and counted."""

import sys
import unicodedata
from pathlib import Path

import polars as pl
import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.filters import LETTERS, Filters
from spacy_bergamot.text import has_letters
from tests.training.preprocess.conftest import TWO, build, line, name, relation, run, write_release
from training.errors import BergamotError


def test_names_without_letters_and_long_names_are_dropped_and_counted(tmp_path: Path) -> None:
    rows = [*TWO, *(name("C1", text) for text in ("--", "…", "（）", "é" * 11, "7", "é" * 10))]
    built = build(tmp_path, rows, filters=Filters(max_name_length=10))
    assert sorted(alias for _, _, alias in built.aliases()) == ["7", "a", "b", "é" * 10]
    dropped = {"names: too long": 1, "names: without letters": 3}
    assert built.counts["dropped"] == dropped


def test_letters_are_those_of_the_runtime() -> None:
    codes = (code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    characters = [char for char in map(chr, codes) if unicodedata.category(char) != "Cn"]
    dropped = ~pl.Series(characters).str.contains(LETTERS)
    differ = {
        char for char, alone in zip(characters, dropped, strict=True) if has_letters(char) == alone
    }
    # Signs of number systems long out of use; clinical names have none of these alone.
    assert {unicodedata.category(char) for char in differ} <= {"Nl", "No", "So"}
    assert len(differ) < 20, sorted(differ)


FILTERED = [
    name("C1", "english"),
    name("C1", "second"),
    name("C2", "spanish", "SPA", SAB="OTHER", TTY="PT"),
    name("C2", "second spanish", "SPA", SAB="OTHER", TTY="PT"),
    name("C3", "old", SUPPRESS="O"),
    name("C3", "obsolete", SUPPRESS="O"),
]
TYPES = [
    line("MRSTY", CUI="C1", TUI="T047"),
    line("MRSTY", CUI="C2", TUI="T121"),
    line("MRSTY", CUI="C3", TUI="T047"),
]
RELATIONS = [
    relation("C1", "C2", "PAR", "isa"),
    relation("C2", "C1", "CHD"),
    relation("C3", "C1", "CHD"),
]


@pytest.mark.parametrize(
    ("filters", "cuis"),
    [
        (Filters(), ["C1", "C2"]),
        (Filters(suppress=()), ["C1", "C2", "C3"]),
        (Filters(suppress=("N",)), ["C3"]),
        (Filters(languages=("SPA",)), ["C2"]),
        (Filters(languages=("ENG",)), ["C1"]),
        (Filters(languages=("ENG", "SPA")), ["C1", "C2"]),
        (Filters(sources=("OTHER",)), ["C2"]),
        (Filters(term_types=("SY",)), ["C1"]),
        (Filters(semantic_types=("T047",)), ["C1"]),
        (Filters(semantic_types=("T047",), semantic_groups=("CHEM",)), ["C1", "C2"]),
        (Filters(semantic_groups=("CHEM",)), ["C2"]),
    ],
)
def test_a_filtered_out_concept_vanishes_everywhere(
    filters: Filters, cuis: list[str], tmp_path: Path
) -> None:
    definitions = [line("MRDEF", CUI=cui, DEF=f"what {cui} is") for cui in ("C1", "C2", "C3")]
    built = build(tmp_path, FILTERED, RELATIONS, filters=filters, MRSTY=TYPES, MRDEF=definitions)
    assert built.cuis == cuis
    assert built.train.n_concepts == len(cuis)
    table = ConceptTable.open(tmp_path / "out/kb")
    assert len(built.rows("types", "type")) == len(cuis)
    for cui in cuis:
        assert table[cui].definition in (f"what {cui} is", None)
        assert len(table[cui].aliases) == 2
    assert {line.partition("||")[0] for line in built.dictionary()} == set(cuis)
    assert {end for edge in built.edges() for end in edge[:2]} <= set(cuis)


def test_a_filter_that_fits_no_row_is_an_error_with_the_choices(tmp_path: Path) -> None:
    write_release(tmp_path / "META", MRCONSO=FILTERED, MRSTY=TYPES)
    for filters, value, choices in [
        (Filters(languages=("ENG", "EN")), "language EN.", "ENG, SPA"),
        (Filters(sources=("src",)), "source src.", "OTHER, SRC"),
        (Filters(term_types=("XX",)), "term type XX.", "PT, SY"),
        (Filters(semantic_types=("T999",)), "semantic type T999.", "T047, T121"),
        (Filters(semantic_groups=("Diso",)), "semantic group Diso.", "CHEM, DISO"),
    ]:
        with pytest.raises(BergamotError, match="T110") as caught:
            run(tmp_path, filters=filters)
        assert value in str(caught.value)
        assert choices in str(caught.value)


def test_no_concept_left_is_an_error_that_counts_what_was_dropped(tmp_path: Path) -> None:
    write_release(tmp_path / "META", MRCONSO=[name("C1", "old", SUPPRESS="O")])
    with pytest.raises(BergamotError, match=r"T104.*'names: suppressed': 1"):
        run(tmp_path)
    assert not (tmp_path / "out").exists()
