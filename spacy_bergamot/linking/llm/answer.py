"""What servers answer, and what of it is believed: a known letter, or a score for every candidate.

No constraint is trusted: servers ignore those that they do not know, without a word.
"""

import json
import math
import re
from dataclasses import asdict, dataclass
from typing import Any

LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""Options are letters: of numbers, 10 begins as 1 does."""

_LEAST = 1e-6
_LETTER = re.compile(r"[\s\"'`*(\[]*([A-Za-z])[\s\"'`*)\].:]*")
_TOKEN = re.compile(r"[\s\"'`*(\[{:▁Ġ]*([A-Za-z])[\s\"'`*)\]}.:,]*")


@dataclass(frozen=True)
class Answer:
    """What was answered to a question.

    chosen (int): Place of the best option.
    scores (tuple[float, ...] | None): Of every option, 0 to 1; None if the server gave none.
    """

    chosen: int
    scores: tuple[float, ...] | None = None

    def to_json(self) -> str:
        """Return it as text, for a file."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, options: int) -> "Answer | None":
        """Read what `to_json` wrote of a question of so many options; None if it is no such.

        text (str): From a file. options (int): Of the question.
        """
        value = _parsed(text)
        if not isinstance(value, dict) or value.keys() != {"chosen", "scores"}:
            return None
        chosen, scores = value["chosen"], value["scores"]
        if type(chosen) is not int or not 0 <= chosen < options:
            return None
        if scores is None:
            return cls(chosen)
        if not isinstance(scores, list) or len(scores) != options:
            return None
        return cls(chosen, tuple(scores)) if all(map(_is_share, scores)) else None


def read_choice(reply: Any, options: int) -> Answer | None:
    """Return what a chat model chose of so many options, None if that is none of them.

    Probabilities are those of the letters alone, upper and lower case and with a space before
    them together: some servers give them as they were before the constraint.

    reply (Any): The server's, parsed. options (int): How many there were.
    """
    choice = _at(reply, "choices", 0)
    letter = _letter(_at(choice, "message", "content"))
    chosen = LETTERS.find(letter) if letter else -1
    if not 0 <= chosen < options:
        return None
    return Answer(chosen, _shares(_at(choice, "logprobs", "content"), chosen, options))


def read_ranks(reply: Any, documents: int, *, logits: bool) -> Answer | None:
    """Return the scores of a rerank endpoint, None if it has not one for every document.

    reply (Any): The server's, parsed. documents (int): How many were sent.
    logits (bool): Whether its scores are any numbers, which the logistic function maps to 0 to 1.
    """
    scores = _raw_ranks(reply, documents)
    if scores is None:
        return None
    if logits:
        scores = [1 / (1 + math.exp(-max(-700.0, min(score, 700.0)))) for score in scores]
    if not all(map(_is_share, scores)):
        return None
    return Answer(scores.index(max(scores)), tuple(scores))


def are_logits(reply: Any) -> bool | None:
    """Tell whether a rerank endpoint gives logits, by its answer about two documents.

    reply (Any): The server's, parsed.
    RETURNS (bool | None): None if the second is not clearly the better one, as it should be.
    """
    scores = _raw_ranks(reply, 2)
    if scores is None or scores[1] - scores[0] < _LEAST:
        return None
    return not all(map(_is_share, scores))


def _raw_ranks(reply: Any, documents: int) -> list[float] | None:
    results = _at(reply, "results")
    if not isinstance(results, list) or len(results) != documents:
        return None
    found: dict[int, float] = {}
    for entry in results:
        place, score = _at(entry, "index"), _at(entry, "relevance_score")
        if type(place) is not int or not _is_number(score):
            return None
        found[place] = float(score)
    everyone = range(documents)
    return [found[place] for place in everyone] if found.keys() == {*everyone} else None


def _letter(content: Any) -> str:
    """Return the letter that an answer is, in upper case; nothing if it is anything else."""
    if not isinstance(content, str):
        return ""
    text = content.rpartition("</think>")[2].strip()
    if text.startswith("{"):
        value = _parsed(text)
        inside = value.get("answer") if isinstance(value, dict) and len(value) == 1 else None
        text = inside if isinstance(inside, str) else ""
    match = _LETTER.fullmatch(text)
    return match[1].upper() if match else ""


def _shares(tokens: Any, chosen: int, options: int) -> tuple[float, ...] | None:
    """Return the probability of every option at the token that was the letter chosen."""
    # From the end: what a model thinks, and the JSON around the letter, come before it.
    for token in reversed(tokens if isinstance(tokens, list) else []):
        if _place(token) == chosen:
            break
    else:
        return None
    alternatives = _at(token, "top_logprobs")
    seen = [token, *(alternatives if isinstance(alternatives, list) else [])]
    shares = [0.0] * options
    for text, entry in {_at(entry, "token"): entry for entry in seen if _place(entry) >= 0}.items():
        logprob = _at(entry, "logprob")
        if text is not None and _place(entry) < options and _is_number(logprob):
            shares[_place(entry)] += math.exp(min(logprob, 0.0))
    total = sum(shares)
    return tuple(share / total for share in shares) if shares[chosen] > 0 else None


def _place(token: Any) -> int:
    """Return the option that a token names, -1 if it names none."""
    text = _at(token, "token")
    match = _TOKEN.fullmatch(text) if isinstance(text, str) else None
    return LETTERS.find(match[1].upper()) if match else -1


def _at(value: Any, *path: str | int) -> Any:
    """Return what lies at a path of parsed JSON, None if nothing does."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_number(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1
