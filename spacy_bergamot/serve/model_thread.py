"""One thread that does all that a pipeline does, several requests at once.

spaCy's vocabulary is shared and its strings are freed after every batch, so no second thread may
use it; several would gain nothing either. What waits when the thread becomes free is one batch.
"""

import queue
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

Run = Callable[[Any, Sequence[Any]], list[Any]]
"""What processes items of one kind together."""

_MOST = 64, 100_000
"""Documents and characters that one batch has, unless a single task has more."""


@dataclass(frozen=True)
class Task:
    """Items to process together with others of the same kind. size (int): Their characters."""

    kind: Hashable
    items: Sequence[Any]
    size: int
    answer: "Future[list[Any]]" = field(default_factory=Future)


class ModelThread:
    """Processes what is submitted, in order; `close` lets it finish what waits.

    run (Run): Gets a kind and items, and returns an answer for each. If it fails, it is called
        again with one item at a time; the exception is then the answer of the one that fails.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="bergamot-model", daemon=True)
        self._thread.start()

    def submit(self, kind: Hashable, items: Sequence[Any], *, size: int) -> "Future[list[Any]]":
        """Return what will be the answers, one for each item: a value, or an exception.

        kind (Hashable): Items of one kind are run together. items (Sequence): What is asked.
        size (int): Their characters.
        """
        task = Task(kind, items, size)
        self._waiting.put(task)
        return task.answer

    def close(self) -> None:
        """Wait until all that was submitted is done."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        goes_on = True
        while goes_on:
            tasks, goes_on = self._batch()
            kinds: dict[Hashable, list[Task]] = {}
            for task in tasks:
                if task.answer.set_running_or_notify_cancel():
                    kinds.setdefault(task.kind, []).append(task)
            for kind, of in kinds.items():
                found = iter(self._answers(kind, [item for task in of for item in task.items]))
                for task in of:
                    task.answer.set_result([next(found) for _ in task.items])

    def _batch(self) -> tuple[list[Task], bool]:
        """Return the tasks that wait, as many as fit, and whether others may follow."""
        task = self._waiting.get()
        tasks: list[Task] = []
        documents, characters = _MOST
        while task is not None:
            tasks.append(task)
            documents, characters = documents - len(task.items), characters - task.size
            if documents <= 0 or characters <= 0:
                return tasks, True
            try:
                task = self._waiting.get_nowait()
            except queue.Empty:
                return tasks, True
        return tasks, False

    def _answers(self, kind: Hashable, items: list[Any]) -> list[Any]:
        try:
            return self._run(kind, items)
        except Exception as error:
            if len(items) == 1:
                return [error]
            return [answer for item in items for answer in self._answers(kind, [item])]
