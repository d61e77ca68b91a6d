"""Mentions that are marked in their context."""

import time

import pytest

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
    start = time.process_time()
    assert len(split_marked("<tgt>" * 1_000_000)) == 1
    assert time.process_time() - start < 2  # minutes, where every mark looks for its end
