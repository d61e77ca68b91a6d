"""Settings: what is out of range is refused, and what scores depend on is said."""

from dataclasses import replace

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.generators import DenseGenerator, LexicalGenerator
from spacy_bergamot.linking.rerank import PriorReranker
from spacy_bergamot.linking.settings import LinkerSettings


@pytest.mark.parametrize(
    ("setting", "value", "code"),
    [
        ("threshold", 1.01, "B037"),
        ("threshold", -1.01, "B037"),
        ("no_definition_threshold", float("nan"), "B037"),
        ("min_probability", -0.01, "B037"),
        ("min_probability", 1.01, "B037"),
        ("k", 0, "B037"),
        ("ef_search", 0, "B037"),
        ("cache_size", -1, "B037"),
        ("max_entities_per_mention", -1, "B037"),
    ],
)
def test_a_number_out_of_range_is_refused(setting: str, value: float, code: str):
    with pytest.raises(BergamotError, match=code) as raised:
        LinkerSettings(**{setting: value})
    assert str(value) in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {"threshold": -1.0, "min_probability": 0.0, "k": 1, "ef_search": 1},
        {"threshold": 1.0, "min_probability": 1.0, "cache_size": 0, "max_entities_per_mention": 0},
    ],
)
def test_the_borders_are_in_range(given):
    assert LinkerSettings(**given)


class Unnamed:
    """A reranker without a text of its own: Python prints its address in memory."""


def test_scores_depend_on_generator_and_reranker_alone():
    one = LinkerSettings(generator=LexicalGenerator(0.3), rerank=Unnamed())
    assert replace(one, rerank=Unnamed(), k=3, threshold=0.5, device="auto").scoring == one.scoring
    for other in (
        {"generator": LexicalGenerator(0.2)},
        {"generator": DenseGenerator()},
        {"rerank": PriorReranker()},
    ):
        assert replace(one, **other).scoring != one.scoring
