"""A document that fails takes no other with it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_bergamot.failures import processed

VOCAB = Vocab()


class Failing(Pipe):
    """Marks documents as done, all of a batch or none: one of a batch that has "bad" fails."""

    name = "failing"

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.set_error_handler(self._note)

    def work(self, docs: list[Doc]) -> list[Doc]:
        if any("bad" in doc.text for doc in docs):
            raise ZeroDivisionError("bad")
        return docs

    def _note(self, name: str, pipe: Any, docs: list[Doc], error: Exception) -> None:
        assert (name, pipe, type(error)) == ("failing", self, ZeroDivisionError)
        self.failed += [doc.text for doc in docs]


@given(st.lists(st.sampled_from(["good", "bad", "fine"]), max_size=8))
def test_all_others_come_out_in_their_order(words: list[str]):
    pipe = Failing()
    docs = [Doc(VOCAB, [word], [False]) for word in words]
    done = processed(pipe, docs, pipe.work)
    assert done == [doc for doc in docs if doc.text != "bad"]
    assert pipe.failed == [word for word in words if word == "bad"]


def test_a_handler_that_raises_ends_it():
    pipe = Failing()

    def refuse(*_: Any) -> None:
        raise KeyError("stop")

    pipe.set_error_handler(refuse)
    with pytest.raises(KeyError, match="stop"):
        processed(pipe, [Doc(VOCAB, ["fine"]), Doc(VOCAB, ["bad"])], pipe.work)
