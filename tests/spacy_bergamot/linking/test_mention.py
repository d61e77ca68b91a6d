"""A mention knows how it was written, whatever is looked up for it."""

from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.linking.mention import Mention


@given(st.text(), st.text(min_size=1), st.text())
def test_the_surface_is_the_mention_s_place_in_its_context(before: str, written: str, after: str):
    context = before + written + after
    mention = Mention("looked up", "X", context, len(before), len(before) + len(written))
    assert mention.surface == written
    assert (mention.long_form, mention.language) == ("", "")
