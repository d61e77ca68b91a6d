"""Files of `CUI||name` lines."""

from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from training.corpora.dictionary import Dictionary, read_dictionary
from training.errors import BergamotError


def test_a_dictionary_is_a_concept_table(tmp_path: Path):
    lines = "C2||Cold\nC1|C2||cold\nC1||Heart  attack\nC3||+\nC1||cold\n"
    (tmp_path / "d.txt").write_text(lines)
    dictionary = Dictionary.read(tmp_path / "d.txt")
    assert dictionary.names == ["+", "cold", "heart attack"]
    assert "heart attack" in dictionary
    dictionary.write(tmp_path / "kb")
    table = ConceptTable.open(tmp_path / "kb")
    named = {row: table.rows_of("aliases", row)["alias"].to_pylist() for row in range(len(table))}
    assert named == {0: ["cold", "heart attack"], 1: ["cold"], 2: ["+"]}
    assert table.name(0) == table.concept_id(0) == "C1"


@pytest.mark.parametrize(
    ("content", "code"), [("C1|heart\n", "B057"), ("||heart\n", "B057"), (None, "B001")]
)
def test_a_bad_dictionary_names_file_and_line(tmp_path: Path, content: str | None, code: str):
    path = tmp_path / "d.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BergamotError, match=code) as error:
        read_dictionary(path)
    assert "d.txt" in str(error.value)


def test_a_dictionary_s_mark_is_no_part_of_it_and_a_folder_is_none(tmp_path: Path):
    path = tmp_path / "dictionary.txt"
    path.write_bytes(b"\xef\xbb\xbfC1||gout\n")
    assert read_dictionary(path) == [("C1", "gout")]
    with pytest.raises(BergamotError, match="B108"):
        read_dictionary(tmp_path)
    path.write_bytes(b"C1||gout\nC2||g\xfc\n")
    with pytest.raises(BergamotError, match=r"B049.*dictionary\.txt:2 .*0xfc"):
        read_dictionary(path)
