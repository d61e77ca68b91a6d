"""A stream of documents through a pipeline, in which one that fails takes no other with it."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import raise_error

from spacy_bergamot.annotate.sources import Entry, Facts


class Linked(NamedTuple):
    """A linked document, or why it is not, and what else is known of it."""

    doc: Doc | None
    facts: Facts
    problem: str = ""


def link_documents(
    nlp: Language, entries: Iterable[Entry], *, n_process: int, batch_size: int
) -> Iterator[Linked]:
    """Yield every document, in order, linked or with what is wrong with it.

    Where a component fails, spaCy drops the whole batch: its documents are run again one by one.

    nlp (Language): Pipeline with a linker.
    entries (Iterable[Entry]): Documents.
    n_process (int): Processes.
    batch_size (int): Documents at once.
    """
    waiting: deque[tuple[int, Entry]] = deque()

    def sent() -> Iterator[tuple[str | Doc, int]]:
        for number, entry in enumerate(entries):
            entry = entry._replace(problem=entry.problem or problem_of(entry.text, nlp.max_length))
            waiting.append((number, entry))
            if not entry.problem and entry.text is not None:
                yield entry.text, number

    with _errors(nlp, _drop):
        stream = nlp.pipe(sent(), as_tuples=True, n_process=n_process, batch_size=batch_size)
        for doc, number in stream:
            while waiting[0][0] != number:
                yield _alone(nlp, waiting.popleft()[1])
            yield Linked(doc, waiting.popleft()[1].facts)
        while waiting:
            yield _alone(nlp, waiting.popleft()[1])


def problem_of(text: str | Doc | None, longest: int) -> str:
    """Return why a text cannot be linked at all, or nothing.

    longest (int): Characters that the pipeline takes, `nlp.max_length`.
    """
    if not isinstance(text, str):
        return ""
    if len(text) > longest:
        return f"{len(text)} characters; {longest} are the most that the pipeline takes at once"
    try:
        text.encode("utf8")
    except UnicodeEncodeError as reason:
        return f"no valid Unicode: {reason}"
    return ""


def _alone(nlp: Language, entry: Entry) -> Linked:
    if entry.problem or entry.text is None:
        return Linked(None, entry.facts, entry.problem)
    try:
        with _errors(nlp, raise_error):
            return Linked(nlp(entry.text), entry.facts)
    except Exception as error:
        return Linked(None, entry.facts, f"{type(error).__name__}: {error}")


def _drop(name: str, component: Any, docs: list[Doc], error: Exception) -> None:
    """Let spaCy drop a batch: its documents are missed and run again."""


@contextmanager
def _errors(nlp: Language, handler: Any) -> Iterator[None]:
    before = nlp.default_error_handler
    nlp.set_error_handler(handler)
    try:
        yield
    finally:
        nlp.set_error_handler(before)
