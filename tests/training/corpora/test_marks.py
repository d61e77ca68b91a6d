"""Mentions that are marked in their context."""

import pytest

from tests.work import CountedText
from training.corpora.marks import marked, split_marked


def test_a_marked_mention_is_found_again():
    assert marked("a cold day", 2, 6) == "a <tgt>cold</tgt> day"
    assert split_marked(marked("a cold day", 2, 6)) == ["a ", "cold", " day"]


@pytest.mark.parametrize(
    ("context", "pieces"),
    [
        ("", [""]),
        ("no mark", ["no mark"]),
        ("a <tgt>b</tgt> c", ["a ", "b", " c"]),
        ("<tgt>b\nb</tgt>c<tgt>d</tgt>", ["", "b\nb", "c", "d", ""]),
        ("<tgt>a<tgt>b</tgt>c<tgt>d", ["", "a<tgt>b", "c<tgt>d"]),
        ("</tgt>a<tgt>", ["</tgt>a<tgt>"]),
    ],
)
def test_marks_are_taken_out(context: str, pieces: list[str]):
    assert split_marked(context) == pieces


def test_marks_without_end_cost_no_more_than_others():
    text = CountedText("<tgt>" * 1000)
    assert len(split_marked(text)) == 1
    assert text.searched == 2  # and not every mark for its end
