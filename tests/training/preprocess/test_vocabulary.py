import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.kb_import.vocabulary import MOST, Vocabulary
from training.errors import BergamotError


def strings(values: list[str]) -> pa.Array:
    return pa.array(values, pa.large_string())


@given(st.lists(st.lists(st.text("abé", max_size=2))))
def test_values_keep_their_numbers_from_one_array_to_the_next(arrays: list[list[str]]) -> None:
    vocabulary = Vocabulary("words")
    codes = [vocabulary.codes(strings(array)) for array in arrays]
    assert [[vocabulary.values[code] for code in row] for row in codes] == arrays
    assert len(set(vocabulary.values)) == len(vocabulary.values)
    assert [vocabulary.number(value) for value in vocabulary.values] == [
        *range(len(vocabulary.values))
    ]


def test_numbers_have_codes_too() -> None:
    vocabulary = Vocabulary("numbers")
    assert vocabulary.codes(pa.array([7, 1 << 40, 7])).tolist() == [0, 1, 0]
    assert vocabulary.values == [7, 1 << 40]


def test_a_function_is_asked_once_a_value() -> None:
    vocabulary, asked = Vocabulary("words"), []

    def length(value: str) -> int:
        asked.append(value)
        return len(value)

    for words in (["a", "bb", "a"], ["bb", "ccc"]):
        codes = vocabulary.codes(strings(words))
        assert vocabulary.apply(length, codes).tolist() == [*map(len, words)]
    assert asked == ["a", "bb", "ccc"]


def test_codes_give_their_values_back() -> None:
    vocabulary = Vocabulary("words")
    codes = vocabulary.codes(strings(["b", "a", "b"]))
    assert vocabulary.enum(codes.astype(np.int16)).to_list() == ["b", "a", "b"]


def test_more_values_than_the_tables_can_hold_are_an_error_that_names_the_column() -> None:
    vocabulary = Vocabulary("SAB of MRCONSO.RRF")
    vocabulary.codes(strings([str(i) for i in range(MOST)]))
    with pytest.raises(BergamotError, match=r"T114.*SAB of MRCONSO.RRF"):
        vocabulary.codes(strings(["one more"]))
