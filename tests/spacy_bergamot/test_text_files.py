"""Text files by lines: numbers, and what is said of a file that is none."""

from pathlib import Path

import pytest

from spacy_bergamot.kb_import.errors import BergamotError
from spacy_bergamot.text_files import numbered_lines, whole_text


def test_only_a_line_feed_ends_a_line_and_empty_ones_are_left_out(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\n \nb\u2028c\n\nd".encode())
    assert list(numbered_lines(path)) == [(1, "a"), (3, "b\u2028c"), (5, "d")]
    assert whole_text(path) == "a\n \nb\u2028c\n\nd"


@pytest.mark.parametrize(
    ("name", "code"), [("missing", "B001"), (".", "B108"), ("latin.txt", r"B049.*latin\.txt:2")]
)
def test_what_is_no_text_is_named(tmp_path: Path, name: str, code: str):
    (tmp_path / "latin.txt").write_bytes(b"a\ncaf\xe9\n")
    for read in (numbered_lines, whole_text):
        with pytest.raises(BergamotError, match=code):
            list(read(tmp_path / name))
