"""A job: units of a plan that are not done yet, through workers, into a file each."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spacy_bergamot.annotate.batches import ERROR, MENTIONS, AnnotateBatches, pieces, plain
from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.annotate.inputs import PROBLEM, Input
from spacy_bergamot.annotate.plan import PLAN, Plan, Unit, check_ids
from spacy_bergamot.annotate.store import Store
from spacy_bergamot.annotate.workers import Workers
from spacy_bergamot.storage.files import sha256

SUMMARY = "_bergamot/summary.json"
_FACTS = b"spacy_bergamot"
_READERS = 16
Progress = Callable[[int], Any]


class Counts(NamedTuple):
    """What is in files: rows, those with an error, mentions, and those that have a concept."""

    rows: int = 0
    errors: int = 0
    mentions: int = 0
    linked: int = 0

    @classmethod
    def sum(cls, counts: Iterable["Counts"]) -> "Counts":
        """Return what is in files together.

        counts (Iterable[Counts]): Of each.
        """
        return cls(*map(sum, zip(*[cls(), *counts], strict=True)))


def done(plan: Plan, store: Store) -> dict[int, Counts]:
    """Return the numbers of the units that are done, and what their files hold.

    A file that cannot be read is made again. RAISES (BergamotError): B040 for another job's.

    plan (Plan), store (Store): Of the job.
    """
    there = set(store.names())
    units = [unit for unit in plan.units if unit.name in there]
    with ThreadPoolExecutor(_READERS) as pool:
        found = list(pool.map(lambda unit: _facts(store, unit), units))
    for unit, facts in zip(units, found, strict=True):
        if facts is not None and facts[0] != plan.fingerprint:
            raise BergamotError(Errors.B040, path=store.url, what=f"{unit.name} is of another job")
    pairs = zip(units, found, strict=True)
    return {unit.number: facts[1] for unit, facts in pairs if facts is not None}


def _facts(store: Store, unit: Unit) -> tuple[str, Counts] | None:
    """Return of which plan a unit's file is and what it holds; None if it cannot be read."""
    try:
        with store.open(unit.name) as stream:
            facts = json.loads(pq.read_schema(stream).metadata[_FACTS])
        return facts["plan"], Counts(**facts["counts"])
    except (OSError, ValueError, TypeError, KeyError, pa.ArrowException):
        return None


def write_summary(plan: Plan, store: Store, counts: Counts) -> None:
    """Write what a finished job has made.

    plan (Plan), store (Store): Of the job. counts (Counts): Of all of its files.
    """
    text = json.dumps({"plan": plan.fingerprint, **counts._asdict()}, indent=1)
    with store.writing(SUMMARY) as path:
        path.write_text(text + "\n", encoding="utf8")


class _Work(NamedTuple):
    """A unit at work. before (pa.Table | None): Its file, where only its errors are tried again."""

    unit: Unit
    table: pa.Table
    before: pa.Table | None
    last: bool


@dataclass(frozen=True)
class Job:
    """Inputs, a plan and a folder for what becomes of them.

    plan (Plan): What is done.
    store (Store): Where the files go.
    inputs (list[Input]): In the plan's order.
    annotate (AnnotateBatches): What is made of a batch; its columns to keep are those of a file.
    """

    plan: Plan
    store: Store
    inputs: list[Input]
    annotate: AnnotateBatches

    @classmethod
    def begin(
        cls,
        store: Store,
        inputs: list[Input],
        annotate: AnnotateBatches,
        *,
        rows: int,
        unique: str | None = None,
    ) -> "Job":
        """Return a job, new or begun before; nothing is written yet.

        store (Store): Where the files go.
        inputs (list[Input]): Of the same columns.
        annotate (AnnotateBatches): What is made of a batch.
        rows (int): Of a file, at most.
        unique (str | None): Column whose values must differ, which a new job looks at.
        RAISES (BergamotError): B046, B101, B102, B170, B040 or B174.
        """
        begun = Plan.read(store)
        made = {one.name: annotate.schema(_given(one.schema), name=one.name) for one in inputs}
        first, *others = [one for one in inputs if one.rows] or inputs[:1]
        for one in others:
            for field in made[one.name]:
                if field.type != made[first.name].field(field.name).type:
                    reason = f"it holds {field.type}, in {first.name} another type"
                    raise BergamotError(
                        Errors.B170, path=one.name, column=field.name, reason=reason
                    )
        settings = asdict(annotate)
        del settings["pipeline"]
        if annotate.code is not None:
            settings["code"] = sha256(Path(annotate.code))
        plan = Plan.make(annotate.pipeline, inputs, rows=rows, settings=settings)
        if begun is not None:
            plan.check(begun, store)
        elif unique is not None:
            check_ids(inputs, unique)
        return cls(plan, store, inputs, annotate)

    def run(
        self,
        units: Sequence[Unit],
        *,
        workers: int,
        timeout: float,
        retry: bool = False,
        progress: Progress,
    ) -> list[BergamotError]:
        """Make the files of units by processes of this machine.

        units (Sequence[Unit]): Those that are wanted.
        workers (int): Processes. timeout (float): Seconds for 512 documents.
        retry (bool): They have files; their rows with an error are annotated again.
        progress: Called with the number of rows that were done.
        RETURNS (list[BergamotError]): Why units could not be read; the others are done.
        RAISES (BergamotError): B007 if a file cannot be written, B171 if a worker cannot begin.
        """
        self.prepare()
        with self.workers(min(workers, max(1, len(units))), timeout) as pool:
            return self.make(units, pool, retry=retry, progress=progress)

    def prepare(self) -> None:
        """Write the plan, if it is not there."""
        if not self.store.has(PLAN):
            self.plan.write(self.store)

    def workers(self, count: int, timeout: float) -> Workers:
        """Return processes that annotate for this job.

        count (int): Processes. timeout (float): Seconds for 512 documents.
        """
        return Workers(replace(self.annotate, keep=()), count=count, timeout=timeout)

    def make(
        self, units: Sequence[Unit], pool: Workers, *, retry: bool, progress: Progress
    ) -> list[BergamotError]:
        """Make the files of units with these workers; the rest is as for `run`.

        units (Sequence[Unit]): Those that are wanted. pool (Workers): Of `workers`.
        retry, progress: As of `run`.
        """
        unread: list[BergamotError] = []
        found: list[pa.RecordBatch] = []
        for work, batch in pool.map(self._batches(units, retry, unread)):
            progress(batch.num_rows)
            found.append(batch)
            if work.last:
                self._write(work, pa.Table.from_batches(found))
                found = []
        return unread

    def _batches(
        self, units: Sequence[Unit], retry: bool, unread: list[BergamotError]
    ) -> Iterator[tuple[_Work, pa.RecordBatch]]:
        """Yield what is to be annotated together; units that cannot be read are left out."""
        asked = [self.annotate.text_column, self.annotate.language_column]
        names = [name for name in asked if name]
        for unit in units:
            source = self.inputs[unit.input]
            problems = [PROBLEM] if PROBLEM in source.schema.names else []
            columns = list(dict.fromkeys([*(self.annotate.keep or ()), *names, *problems]))
            before = None
            try:
                table = source.read(unit.first, unit.rows, columns)
            except BergamotError as error:
                unread.append(error)
                continue
            texts = pa.table([plain(table.column(name)).combine_chunks() for name in names], names)
            rows = pieces(texts.column(0))
            if retry:
                with self.store.open(unit.name) as stream:
                    before = pq.read_table(stream)
                failed = np.flatnonzero(before.column(ERROR).is_valid()).tolist()
                rows = iter([(row, row + 1) for row in failed])
            bounds = list(rows)
            for start, end in bounds:
                (batch,) = texts.slice(start, end - start).combine_chunks().to_batches()
                yield _Work(unit, table, before, end == bounds[-1][1]), batch

    def _write(self, work: _Work, found: pa.Table) -> None:
        """Write a unit's file."""
        table = work.table
        if work.before is not None:
            found = _merged(work.before.select(found.column_names).cast(found.schema), found)
        if PROBLEM in table.column_names:
            error = pc.coalesce(table.column(PROBLEM).cast(pa.string()), found.column(ERROR))
            found = found.set_column(1, ERROR, error)
        keep = table.select(list(self.annotate.keep or ()))
        made = pa.table([*keep.columns, *found.columns], [*keep.column_names, *found.column_names])
        facts = {"plan": self.plan.fingerprint, "counts": _counted(found)._asdict()}
        made = made.replace_schema_metadata({_FACTS: json.dumps(facts)})
        with self.store.writing(work.unit.name) as path:
            pq.write_table(made, path, compression="zstd")


def _given(schema: pa.Schema) -> pa.Schema:
    """Return the columns that somebody gave: what could not be read is told by one of ours."""
    return pa.schema([field for field in schema if field.name != PROBLEM])


def _merged(before: pa.Table, again: pa.Table) -> pa.Table:
    """Return a file's rows, those with an error as they came out again."""
    order = np.arange(before.num_rows)
    failed = np.flatnonzero(before.column(ERROR).is_valid())
    order[failed] = before.num_rows + np.arange(len(failed))
    return pa.concat_tables([before, again]).take(pa.array(order))


def _counted(found: pa.Table) -> Counts:
    mentions = pc.list_flatten(found.column(MENTIONS))
    concepts = pc.struct_field(mentions, "concept_id")
    errors = found.num_rows - found.column(ERROR).null_count
    return Counts(found.num_rows, errors, len(mentions), len(mentions) - concepts.null_count)
