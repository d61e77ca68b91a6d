"""Documents that are processed together, and one of them that fails."""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc


def processed(pipe: Any, docs: list[Doc], process: Callable[[list[Doc]], list[Doc]]) -> list[Doc]:
    """Return what a component makes of documents; one that fails takes no other with it.

    It goes to the component's error handler, which may raise.

    pipe (Pipe): The component.
    docs (list[Doc]): Documents.
    process: Processes documents together; it may be called again with some of them.
    RETURNS (list[Doc]): Those that did not fail, in order.
    """
    try:
        return process(docs)
    except Exception as error:
        if len(docs) > 1:
            return [done for doc in docs for done in processed(pipe, [doc], process)]
        pipe.get_error_handler()(pipe.name, pipe, docs, error)
        return []
