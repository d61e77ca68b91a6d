"""Concept tables: what is written is read, concept by concept, and the graph is followed."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb.concept_table import CHILD_RELATIONS, ConceptTable
from spacy_bergamot.kb.schemas import tables_of
from spacy_bergamot.storage.arrow_files import read_arrow, write_arrow
from tests.spacy_bergamot.conftest import write_concepts

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
LANGUAGES = st.dictionaries(
    st.sampled_from(["GER", "SPA", "JPN"]), st.lists(NAMES, min_size=1, max_size=3, unique=True)
)
KNOWN = st.dictionaries(
    st.from_regex(r"C[0-9]{3}", fullmatch=True).filter(str.isascii),
    st.tuples(st.sampled_from(["T047", "T121"]), LANGUAGES),
    min_size=1,
    max_size=6,
)
EDGES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["CHD", "RN", "PAR", "RO"]),
                           st.integers(0, 5)), max_size=15)  # fmt: skip


def mapped(path: Path, rows: dict[str, list[tuple]]) -> ConceptTable:
    """Return a table of files that are not synced with the disk, which takes long."""
    path.mkdir(exist_ok=True)
    for name, table in tables_of(rows).items():
        write_arrow(path / f"{name}.arrow", table)
    return ConceptTable(path, {})


def rows_of(edges: list[tuple[int, str, int]], *ids: str) -> dict[str, list[tuple]]:
    """Return the rows of concepts that have nothing but relations."""
    return {
        "concepts": [(concept_id, "x", None) for concept_id in ids],
        "relations": [(head, rel, "", tail, "SRC") for head, rel, tail in sorted(edges)],
    }


@settings(max_examples=10)
@given(KNOWN)
def test_every_concept_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, known):
    known = {key: (tui, {"ENG": [key], **by}) for key, (tui, by) in known.items()}
    ids = sorted(known)
    rows = {
        "concepts": [(key, key, None) for key in ids],
        "aliases": [
            (row, name, language, "SRC", "PT")
            for row, key in enumerate(ids)
            for language, names in known[key][1].items()
            for name in names
        ],
        "types": [(row, known[key][0], "DISO") for row, key in enumerate(ids)],
        "codes": [(0, "ICD10CM", "I10"), (0, "MSH", "D1"), (0, "ICD10CM", "I11")],
    }
    table = mapped(tmp_path_factory.mktemp("kb"), rows)
    assert (list(table), len(table)) == (ids, len(ids))
    for row, key in enumerate(ids):
        concept, (tui, names) = table[key], known[key]
        assert (table.row(key), table.concept_id(row), table.name(row)) == (row, key, key)
        assert concept.aliases == list(dict.fromkeys(n for of in names.values() for n in of))
        assert (concept.concept_id, concept.types, concept.groups) == (key, [tui], ["DISO"])
        assert concept.languages == sorted(names)
        assert concept.codes == ({"ICD10CM": ["I10", "I11"], "MSH": ["D1"]} if not row else {})
        assert table.group(row) == "DISO"
    assert table.column("relations", "tail").to_pylist() == []


def test_what_is_not_there_is_not_found(concepts: Path):
    table = ConceptTable.open(concepts)
    for concept_id in ("C00", "C055", "C99", "", "c01"):
        assert concept_id not in table
        assert table.find(concept_id) is None
        with pytest.raises(KeyError):
            table[concept_id]
        with pytest.raises(BergamotError, match="B013"):
            table.row(concept_id)
    assert 7 not in table


@pytest.mark.parametrize("ids", [("A_b", "HP:0000001", "HP:1"), ("A_b", "HP_0000001", "HP_1")])
def test_an_accession_is_found_with_either_mark(tmp_path: Path, ids: tuple[str, ...]):
    table = mapped(tmp_path, rows_of([], *ids))
    assert [table.find(key) for key in ("HP:0000001", "HP_0000001", "HP:1")] == [1, 1, 2]
    assert table.find("A_b") == 0
    assert table.find("A:b") is None


@settings(max_examples=20)
@given(EDGES, st.sets(st.integers(0, 5)))
def test_the_graph_is_what_plain_loops_find(tmp_path_factory: pytest.TempPathFactory, edges, tops):
    table = mapped(tmp_path_factory.mktemp("kb"), rows_of(edges, *"abcdef"))
    below = set(tops)
    for _ in range(6):
        below |= {tail for head, rel, tail in edges if head in below and rel in CHILD_RELATIONS}
    assert table.descendants(tops) == below
    for row in range(6):
        own = sorted((rel, "", tail) for head, rel, tail in edges if head == row)
        assert sorted(table.related(row)) == own
        assert sorted(table.related(row, rels=["PAR"])) == [of for of in own if of[0] == "PAR"]


def test_equal_tables_have_one_fingerprint_and_facts_are_kept(tmp_path: Path):
    found = []
    for name, rel in (("one", "CHD"), ("same", "CHD"), ("other", "PAR")):
        tables = tables_of(rows_of([(0, rel, 1)], "a", "b"))
        ConceptTable.write(tmp_path / name, tables, release=["R"])
        found.append(ConceptTable.open(tmp_path / name))
    one, same, other = found
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.manifest["release"] == ["R"]
    assert one.manifest["rows"] == {
        "concepts": 2, "aliases": 0, "types": 0, "codes": 0, "relations": 1,
    }  # fmt: skip


def test_a_changed_file_is_noticed_unless_nobody_asks(tmp_path: Path):
    path = write_concepts(tmp_path / "kb")
    data = bytearray((path / "aliases.arrow").read_bytes())
    data[-100] ^= 1
    (path / "aliases.arrow").write_bytes(data)
    with pytest.raises(BergamotError, match=r"B006.*aliases\.arrow"):
        ConceptTable.open(path)
    assert len(ConceptTable.open(path, checksums=False)) == 10


@settings(max_examples=20)
@given(st.lists(st.lists(NAMES, max_size=4), max_size=4))
def test_a_table_in_pieces_is_one_batch_on_disk(tmp_path_factory: pytest.TempPathFactory, pieces):
    kind = pa.dictionary(pa.int16(), pa.string())
    chunks = [pa.array(piece, pa.string()).dictionary_encode().cast(kind) for piece in pieces]
    path = tmp_path_factory.mktemp("arrow") / "t.arrow"
    write_arrow(path, pa.table({"name": pa.chunked_array(chunks, kind)}))
    column = read_arrow(path).column("name")
    assert column.to_pylist() == [name for piece in pieces for name in piece]
    assert column.num_chunks <= 1


def test_what_is_no_arrow_file_is_named(tmp_path: Path):
    with pytest.raises(BergamotError, match=r"B001.*nothing\.arrow"):
        read_arrow(tmp_path / "nothing.arrow")
    (tmp_path / "text.arrow").write_text("text")
    with pytest.raises(BergamotError, match=r"B002.*text\.arrow"):
        read_arrow(tmp_path / "text.arrow")
