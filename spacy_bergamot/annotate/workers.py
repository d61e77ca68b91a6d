"""Processes that annotate batches side by side; a document that ends its process is found out."""

import json
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from threading import Lock, Timer, local
from typing import Any, TypeVar

import pyarrow as pa

from spacy_bergamot.annotate.batches import ERROR, MENTIONS, AnnotateBatches
from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.annotate.worker import READY

Task = TypeVar("Task")

_AHEAD = 8
"""Batches per worker that are at work, or wait for it or for one before them: while a batch is
tried document by document, the other workers have enough to do."""
_TRIES = 2
"""Of a batch or a document whose worker ends: once may be chance."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
_TO_END = 30
"""Seconds that a process has to end by itself once it has closed its stream."""
_LAST_WORDS = 2000


class Died(Exception):
    """A worker ended before it answered."""


class Workers:
    """Processes of one thread each; use it in a with statement, which ends them.

    They are new processes, not forks: torch and its libraries do not outlive a fork of a process
    in which they have run threads. Each has a thread here that feeds it.

    annotate (AnnotateBatches): What they do.
    count (int): Processes; each loads the pipeline when the first batch is there for it.
    timeout (float): Seconds per batch, after which a worker is ended; its documents are tried
            alone.
    """

    def __init__(self, annotate: AnnotateBatches, *, count: int, timeout: float) -> None:
        self.annotate = annotate
        self.count = count
        self.timeout = timeout
        self._threads = ThreadPoolExecutor(count)
        self._mine = local()
        self._alive: set[_Worker] = set()
        self._closed = False
        self._lock = Lock()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._closed = True
            for worker in self._alive:
                worker.end()
        self._threads.shutdown(cancel_futures=True)

    def map(
        self, tasks: Iterable[tuple[Task, pa.RecordBatch]]
    ) -> Iterator[tuple[Task, pa.RecordBatch]]:
        """Yield every task with what became of its batch, in the order of the tasks.

        RAISES (BergamotError): B171 if a worker cannot begin.
        """
        waiting: deque[tuple[Task, Future[pa.RecordBatch]]] = deque()
        for task, batch in tasks:
            waiting.append((task, self._threads.submit(self._annotated, batch)))
            if len(waiting) > _AHEAD * self.count:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()

    def _annotated(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Annotate a batch; where its worker dies of it, its documents one by one."""
        end = ""
        for _ in range(_TRIES):
            try:
                return self._worker().ask(batch)
            except Died as reason:
                end = str(reason)
        if batch.num_rows > 1:
            alone = [batch.slice(row, 1) for row in range(batch.num_rows)]
            return pa.concat_batches([self._annotated(row) for row in alone])
        added = self.annotate.schema(batch.schema)
        values = {MENTIONS: [[]], ERROR: [f"the process that linked it ended ({end})"]}
        return pa.RecordBatch.from_pydict(values, schema=added)

    def _worker(self) -> "_Worker":
        """Return the worker of this thread, a new one if there is none any more."""
        known: _Worker | None = getattr(self._mine, "worker", None)
        if known is not None and known.ended is None:
            return known
        with self._lock:
            self._alive.discard(known)
            if self._closed:
                raise BergamotError(Errors.B171, reason="the job has ended")
            worker = self._mine.worker = _Worker(self.annotate, self.timeout)
            self._alive.add(worker)
        worker.begin()
        return worker


class _Worker:
    """One process."""

    def __init__(self, annotate: AnnotateBatches, timeout: float) -> None:
        self._timeout = timeout
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # the process's, for its lifetime
        self._process = subprocess.Popen(
            [sys.executable, "-m", "spacy_bergamot.annotate.worker", json.dumps(asdict(annotate))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
        )
        self._writer: Any = None
        self._reader: Any = None
        self.ended: str | None = None

    def begin(self) -> None:
        """Wait until the pipeline is loaded. RAISES (BergamotError): B171, with its last words."""
        if self._pipes[1].readline() != READY:
            self.end()
            self._log.seek(0)
            lines = self._log.read().decode("utf8", "replace").strip()[-_LAST_WORDS:].splitlines()
            raise BergamotError(Errors.B171, reason=lines[-1] if lines else self.ended)

    def ask(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return what the process makes of a batch. RAISES (Died): If it ends."""
        to, back = self._pipes
        timer = Timer(self._timeout, self._late)
        timer.daemon = True
        timer.start()
        try:
            if self._writer is None:
                self._writer = pa.ipc.new_stream(to, batch.schema)
            self._writer.write_batch(batch)
            to.flush()
            if self._reader is None:
                self._reader = pa.ipc.open_stream(back)
            return self._reader.read_next_batch()
        except (OSError, EOFError, StopIteration, ValueError, pa.ArrowException):
            with suppress(subprocess.TimeoutExpired):  # it says itself how it ended
                self._process.wait(_TO_END)
            self.end()
            raise Died(self.ended) from None
        finally:
            timer.cancel()

    def end(self) -> None:
        """End the process, and close what belongs to it."""
        self._process.kill()
        status = self._process.wait()
        if self.ended is None:
            self.ended = f"signal {-status}" if status < 0 else f"status {status}"

    @property
    def _pipes(self) -> tuple[Any, Any]:
        return self._process.stdin, self._process.stdout

    def _late(self) -> None:
        self.ended = f"no answer in {self._timeout:g} seconds"
        with suppress(OSError):
            self._process.kill()
