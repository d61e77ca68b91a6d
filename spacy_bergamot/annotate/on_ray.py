"""`annotate` on a Ray cluster: each actor makes whole units, as one process makes them alone."""

import logging
import math
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.annotate.job import Job, Progress
from spacy_bergamot.annotate.plan import Unit
from spacy_bergamot.annotate.workers import Workers

_TRIES = 2
"""Of a unit whose actor ends, after the first: where nodes come and go, each may be the next."""
_PATIENCE = 60
"""Seconds for a first actor to begin, before it is said that the cluster may have no room."""
_OBJECTS = 80 << 20
"""Bytes of a cluster's store on this machine: nothing but numbers goes through it."""

logger = logging.getLogger("spacy_bergamot.annotate")


@dataclass(frozen=True)
class RayCluster:
    """Where actors run and what each is given.

    address (str | None): Of a cluster, "auto" for the one of this machine; None begins one here,
        unless the variable RAY_ADDRESS names another, and ends it.
    cpus (float), gpus (float), memory (float): Of an actor; memory in GiB, 0 for any.
    """

    address: str | None = None
    cpus: float = 1
    gpus: float = 0
    memory: float = 0

    def run(
        self,
        job: Job,
        units: Sequence[Unit],
        *,
        workers: int,
        timeout: float,
        retry: bool = False,
        progress: Progress,
    ) -> list[BergamotError]:
        """Make the files of units, as `Job.run`, by actors; units and numbers travel, no document.

        job (Job), units (Sequence[Unit]): What is made.
        timeout, retry, progress: As of `Job.run`.
        workers (int): Actors, at most: those that the cluster has room for begin.
        RAISES (BergamotError): As `Job.run`; B177 without Ray or its cluster, B178 for a unit whose
            actors end again and again.
        """
        job.prepare()
        unread: list[BergamotError] = []
        workers = min(workers, max(1, len(units)))
        with self._connected(workers) as ray:
            options: dict[str, Any] = {"num_cpus": self.cpus, "num_gpus": self.gpus}
            if self.memory:
                options["memory"] = int(self.memory * 2**30)
            actor = ray.remote(_Actor).options(
                **options, max_restarts=-1, max_task_retries=_TRIES, scheduling_strategy="SPREAD"
            )
            facts = (ray.put(job), timeout, retry)
            actors = [actor.remote() for _ in range(workers)]
            for unit, errors in self._mapped(ray, actors, facts, units):
                unread += errors
                progress(unit.rows)
        return unread

    @contextmanager
    def _connected(self, workers: int) -> Iterator[Any]:
        try:
            import ray
        except ImportError as reason:
            raise BergamotError(Errors.B177, reason=reason) from None
        address = self.address or os.environ.get("RAY_ADDRESS")
        settings: dict[str, Any] = {"address": address}
        if not address:
            settings = {"object_store_memory": _OBJECTS, "include_dashboard": False}
            settings |= {"num_cpus": max(1, math.ceil(workers * self.cpus))}
            if self.gpus:
                settings["num_gpus"] = math.ceil(workers * self.gpus)
        try:
            ray.init(**settings, logging_level=logging.WARNING)
        except (ConnectionError, ValueError, RuntimeError) as reason:
            raise BergamotError(Errors.B177, reason=reason) from None
        try:
            yield ray
        finally:
            ray.shutdown()

    def _mapped(
        self, ray: Any, actors: list[Any], facts: tuple[Any, ...], units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, list[BergamotError]]]:
        """Yield units that are done, and what of them could not be read.

        A unit is given to an actor that has begun and has nothing to do: one that waits for room in
        the cluster may wait until the others end.
        """
        todo = deque(units)
        starting = {actor.begin.remote(*facts): actor for actor in actors}
        running: dict[Any, tuple[Any, Unit]] = {}
        if todo:
            self._wait_for_room(ray, list(starting))
        while todo or running:
            (done,), _ = ray.wait([*starting, *running])
            actor, unit = running.pop(done) if done in running else (starting.pop(done), None)
            try:
                errors = ray.get(done)
            except ray.exceptions.RayActorError as reason:
                name = unit.name if unit else "the first unit"
                raise BergamotError(Errors.B178, name=name, reason=reason) from None
            except ray.exceptions.RayTaskError as error:  # its own text is the actor's traceback
                raise error.cause from None
            if unit is not None:
                yield unit, errors
            if todo:
                unit = todo.popleft()
                running[actor.make.remote(*facts, unit)] = actor, unit

    def _wait_for_room(self, ray: Any, starting: list[Any]) -> None:
        """Wait until an actor has begun; give a message if that lasts, and wait no longer here.

        It is no error: others may leave the cluster, or it may grow.
        """
        if ray.wait(starting, timeout=_PATIENCE)[0]:
            return
        wish = {"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory * 2**30}
        message = BergamotError(
            Errors.B250,
            seconds=_PATIENCE,
            wish=_resources(wish),
            free=_resources(ray.available_resources()),
            total=_resources(ray.cluster_resources()),
        )
        logger.warning("%s", message)


def _resources(of: Mapping[str, float]) -> str:
    """Return what Ray calls resources, as the options of `annotate` count them."""
    memory = of.get("memory", 0) / 2**30
    return f"CPU {of.get('CPU', 0):g}, GPU {of.get('GPU', 0):g}, memory {memory:.3g} GiB"


class _Actor:
    """A process on a node of the cluster, with one worker that a document may end.

    It is given all with every unit: one that is begun again knows nothing of what was before.
    """

    def __init__(self) -> None:
        self._workers: Workers | None = None

    def begin(self, job: Job, timeout: float, retry: bool) -> None:
        """Look whether this node has the same. RAISES (BergamotError): As `Job.begin`."""
        Job.begin(job.store, job.inputs, job.annotate, rows=job.plan.rows)

    def make(self, job: Job, timeout: float, retry: bool, unit: Unit) -> list[BergamotError]:
        """Make the file of a unit; return why it could not be read."""
        if self._workers is None:
            self._workers = job.workers(1, timeout)
        # The driver learns with the unit how many rows are done.
        return job.make([unit], self._workers, retry=retry, progress=lambda _: None)
