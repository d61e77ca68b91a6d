"""Templates escape what is put into pages, and Markdown reads what `plain` made as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from spacy_bergamot.output.pages import plain, templates


def test_what_is_put_into_a_page_is_escaped_and_into_other_texts_not():
    environment = templates()
    page = environment.overlay(autoescape=True).from_string("<p>{{ text }}</p>")
    assert page.render(text="<b>&") == "<p>&lt;b&gt;&amp;</p>"
    assert environment.autoescape("x.html")
    assert not environment.autoescape("x.md")


def test_a_value_that_is_missing_is_an_error_and_no_gap():
    with pytest.raises(UndefinedError):
        templates().from_string("{{ nothing }}").render()


@given(st.text())
def test_plain_text_is_one_line_whose_marks_are_all_escaped(text: str):
    made = plain(text)
    assert len(made.splitlines()) <= 1
    bare = made.replace("\\\\", "")
    for mark in "`*_[]<>|#~&$":
        assert bare.count(mark) == bare.count(f"\\{mark}")
