"""Whatever a server answers, it is read as an answer or as none."""

import math

from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.linking.llm.answer import (
    LETTERS,
    Answer,
    are_logits,
    read_choice,
    read_ranks,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = ["choices", "message", "content", "logprobs", "top_logprobs", "token", "logprob", "results"]
KEYS += ["index", "relevance_score", "chosen", "scores"]
REPLY = st.recursive(
    JSON | st.sampled_from([*LETTERS, 0, 1, 0.5, -1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
)


def holds(answer: Answer | None, options: int) -> bool:
    if answer is None:
        return True
    shares = answer.scores or ()
    return 0 <= answer.chosen < options and all(0 <= share <= 1 for share in shares)


def chat(content: object, logprobs: object = None) -> dict:
    return {"choices": [{"message": {"content": content}, "logprobs": {"content": logprobs}}]}


@given(REPLY, REPLY, REPLY, st.integers(2, 20))
def test_no_reply_breaks_reading(reply, content, logprobs, options):
    for one in (reply, chat(content, logprobs), chat("A", [{"token": "A", "top_logprobs": reply}])):
        assert holds(read_choice(one, options), options)
    for one in (reply, {"results": reply}):
        assert holds(read_ranks(one, options, logits=True), options)
        assert holds(read_ranks(one, options, logits=False), options)
        assert are_logits(one) in (None, True, False)


@given(st.text(), st.integers(2, 20))
def test_a_text_is_a_letter_only_if_it_has_no_other(text, options):
    answer = read_choice(chat(text), options)
    letters = [one for one in text.rpartition("</think>")[2] if one.isalnum()]
    if answer is not None:
        assert [one.upper() for one in letters] == [LETTERS[answer.chosen]]


@given(st.lists(st.floats(-30, 0), min_size=2, max_size=20), st.data())
def test_probabilities_are_the_softmax_of_the_letters(logprobs, data):
    chosen = data.draw(st.integers(0, len(logprobs) - 1))
    top = [
        {"token": LETTERS[n], "logprob": logprob} for n, logprob in enumerate(logprobs)
    ]  # fmt: skip
    mixed = data.draw(st.permutations(top))
    token = {**top[chosen], "top_logprobs": mixed}
    answer = read_choice(chat(LETTERS[chosen], [token]), len(logprobs))
    assert answer is not None
    total = sum(map(math.exp, logprobs))
    expected = [math.exp(logprob) / total for logprob in logprobs]
    assert answer.scores is not None
    assert all(
        math.isclose(*pair, rel_tol=1e-9) for pair in zip(answer.scores, expected, strict=True)
    )


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2), st.data())
def test_ranks_are_read_in_any_order(scores, data):
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    mixed = {"results": data.draw(st.permutations(results))}
    answer = read_ranks(mixed, len(scores), logits=True)
    assert answer is not None
    assert answer.scores[answer.chosen] == max(answer.scores)
    pairs = sorted(zip(scores, answer.scores, strict=True))
    assert [share for _, share in pairs] == sorted(answer.scores)
    in_range = all(0 <= score <= 1 for score in scores)
    plain = read_ranks(mixed, len(scores), logits=False)
    assert (plain is not None) == in_range
    assert plain is None or list(plain.scores) == scores


@given(st.integers(0, 19), st.none() | st.lists(st.floats(0, 1), min_size=20, max_size=20))
def test_an_answer_is_written_and_read(chosen, scores):
    answer = Answer(chosen, tuple(scores) if scores else None)
    assert Answer.from_json(answer.to_json(), 20) == answer
    assert Answer.from_json(answer.to_json(), chosen) is None


@given(st.text() | JSON.map(repr))
def test_a_damaged_answer_is_none(text):
    assert holds(Answer.from_json(text, 3), 3)
