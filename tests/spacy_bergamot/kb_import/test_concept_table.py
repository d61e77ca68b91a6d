"""The concept table of a release: names, types, codes, definitions, what is said of them."""

import json
import logging
import random
from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.filters import Filters
from tests.training.preprocess.conftest import TWO, build, line, name, relation, run, write_release
from training.errors import BergamotError


def test_concepts_are_sorted_by_id_whatever_the_order_of_rows(tmp_path: Path) -> None:
    rows = [name(f"C{i}", f"{word} {i}") for i in range(20) for word in ("x", "y")]
    random.Random(0).shuffle(rows)
    built = build(tmp_path, rows)
    assert built.cuis == sorted(f"C{i}" for i in range(20))
    table = ConceptTable.open(tmp_path / "out/kb")
    assert table["C7"].aliases == ["x 7", "y 7"]
    assert [table.row(cui) for cui in table] == list(range(20))


def test_types_have_groups_and_unknown_types_have_none(tmp_path: Path) -> None:
    types = [line("MRSTY", CUI="C1", TUI=tui) for tui in ("T999", "T047", "T047")]
    built = build(tmp_path, TWO, MRSTY=[*types, line("MRSTY", CUI="C9", TUI="T001")])
    assert built.rows("types", "type", "group") == [("T047", "DISO"), ("T999", "")]


def test_codes_are_distinct_and_by_source(tmp_path: Path) -> None:
    rows = [
        name("C1", "a", SAB="B", CODE="2"),
        name("C1", "b", SAB="B", CODE="2"),
        name("C1", "c", SAB="B", CODE="10"),
        name("C1", "d", SAB="A", CODE="2"),
        name("C1", "e", SAB="A", CODE=""),
    ]
    built = build(tmp_path, rows)
    assert built.rows("codes", "source", "code") == [("A", "2"), ("B", "10"), ("B", "2")]


def test_the_first_unsuppressed_definition_counts(tmp_path: Path) -> None:
    rows = [
        line("MRDEF", CUI="C1", SAB="A", DEF="suppressed", SUPPRESS="Y"),
        line("MRDEF", CUI="C1", SAB="C", DEF="third"),
        line("MRDEF", CUI="C1", SAB="B", DEF="second"),
        line("MRDEF", CUI="C7", SAB="B", DEF="of no concept"),
    ]
    built = build(tmp_path, [*TWO, name("C2", "x"), name("C2", "y")], MRDEF=rows)
    assert built.rows("concepts", "definition") == ["second", None]


def test_the_manifest_says_what_was_read(tmp_path: Path) -> None:
    sources = [line("MRSAB", RSAB="SRC", SVER="2020AB", SRL="0", SON="Source, 2020")]
    built = build(tmp_path, TWO, MRSAB=sources)
    manifest = json.loads((tmp_path / "out/kb/manifest.json").read_text("utf8"))
    assert manifest["release"] == [
        {"source": "SRC", "version": "2020AB", "restriction": "0", "name": "Source, 2020"}
    ]
    assert [entry["name"] for entry in manifest["sources"]] == [
        "MRCONSO.RRF",
        "MRREL.RRF",
        "MRSAB.RRF",
    ]
    assert manifest["missing"] == ["MRSTY.RRF", "MRDEF.RRF", "MRRANK.RRF"]
    assert manifest["counts"]["read"] == {"MRCONSO": 2, "MRREL": 0, "MRSAB": 1}
    assert manifest["options"]["suppress"] == ["O", "Y", "E"]
    assert str(tmp_path) not in json.dumps(built.manifests)


def test_missing_optional_files_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_release(tmp_path / "META", MRCONSO=TWO)
    with caplog.at_level(logging.WARNING):
        built = run(tmp_path)
    assert "MRREL.RRF is missing" in caplog.text
    assert built.train.relation_labels == []
    assert built.edges() == []


def test_a_concept_without_a_name_in_the_languages_is_no_node(tmp_path: Path) -> None:
    rows = [*TWO, name("C2", "solo", "SPA")]
    built = build(tmp_path, rows, [relation("C1", "C2")], filters=Filters(languages=("ENG",)))
    assert built.cuis == ["C1"]
    assert built.counts["dropped"]["relations: concept not in the table"] == 1


@pytest.mark.parametrize("column", ["SAB", "RELA", "TUI"])
def test_more_values_than_the_tables_can_hold_are_an_error_that_names_the_column(
    column: str, tmp_path: Path
) -> None:
    count = range((1 << 15) + 1)
    tables = {
        "SAB": {"MRCONSO": [name("C1", "a", SAB=f"S{i}") for i in count]},
        "RELA": {"MRREL": [relation("C1", "C2", "RO", f"r{i}") for i in count]},
        "TUI": {"MRSTY": [line("MRSTY", CUI="C1", TUI=f"T{i}") for i in count]},
    }
    write_release(tmp_path / "META", **{"MRCONSO": [*TWO, name("C2", "c")], **tables[column]})
    with pytest.raises(BergamotError, match=rf"T114.*32768.*{column} of .*MR\w+\.RRF"):
        run(tmp_path)
