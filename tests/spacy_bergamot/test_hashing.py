"""Keys of strings and windows: the same text has the same key, wherever it stands."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.hashing import WindowKeys, find_keys, string_key, string_keys

TEXTS = st.text(st.characters())  # halves of surrogate pairs too
NUMBERS = st.lists(st.integers(0, 2**64 - 1))


@given(TEXTS, st.data())
def test_a_window_has_the_key_of_its_text(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (inside,) = WindowKeys(text)(np.array([start]), np.array([end]))
    (alone,) = WindowKeys.of([text[start:end]])
    assert inside == alone


@given(st.lists(TEXTS))
def test_texts_together_have_the_keys_that_they_have_alone(texts: list[str]):
    alone = [WindowKeys.of([text])[0] for text in texts]
    assert WindowKeys.of(texts).tolist() == alone
    assert (len(set(alone)), WindowKeys.of([]).tolist()) == (len(set(texts)), [])


@given(st.lists(TEXTS), st.characters())
def test_a_character_in_front_makes_the_key_of_the_longer_text(texts: list[str], first: str):
    longer = WindowKeys.of([first + text for text in texts])
    assert WindowKeys.behind(first, WindowKeys.of(texts)).tolist() == longer.tolist()


@given(st.lists(TEXTS, unique=True))
def test_strings_have_keys_of_their_own(texts: list[str]):
    keys = string_keys(texts)
    assert keys.dtype == np.uint64
    assert keys.tolist() == [string_key(text) for text in texts]
    assert len(set(keys.tolist())) == len(texts)


def test_the_key_of_a_string_is_the_same_in_every_release():
    """Indexes on disk hold it."""
    assert string_key("fever") == 0x990051AF14380EE6


@given(NUMBERS, NUMBERS)
def test_the_first_of_equal_keys_is_found_as_by_a_plain_search(known, wanted):
    known = sorted(known)
    expected = [known.index(key) if key in known else -1 for key in [*wanted, *known]]
    keys = np.array(known, dtype=np.uint64)
    found = find_keys(keys, np.array([*wanted, *known], dtype=np.uint64))
    assert found.tolist() == expected
