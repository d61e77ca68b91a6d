"""What a job does, written before it begins: another command cannot go on with its files."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spacy_bergamot import __version__
from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.annotate.inputs import Input
from spacy_bergamot.annotate.store import Store
from spacy_bergamot.hashing import WindowKeys
from spacy_bergamot.inputs import parsed
from spacy_bergamot.pipeline.pipelines import find_pipeline
from spacy_bergamot.storage.files import sha256
from spacy_bergamot.storage.manifest import listed
from spacy_bergamot.storage.preflight import cores

PLAN = "_bergamot/plan.json"
_VERSION = 1
_SHOWN = 3


class Unit(NamedTuple):
    """Rows of an input that become one file. number (int): Of the unit, from 0."""

    number: int
    input: int
    first: int
    rows: int

    @property
    def name(self) -> str:
        """Name of its file."""
        return f"part-{self.number:05d}.parquet"


@dataclass(frozen=True)
class Plan:
    """All that decides what is in the files of a job.

    pipeline (dict[str, str]): Checksums of the pipeline's files, by name.
    settings (dict): Every option that changes a result.
    versions (dict[str, str]): Of the packages that compute it.
    inputs (list[dict]): What each input is: see `Input.facts`.
    rows (int): Of a unit, at most.
    """

    pipeline: dict[str, str]
    settings: dict[str, Any]
    versions: dict[str, str]
    inputs: list[dict[str, Any]]
    rows: int

    @classmethod
    def make(
        cls, pipeline: str, inputs: Sequence[Input], *, rows: int, settings: Mapping[str, Any]
    ) -> "Plan":
        """Return the plan of a job.

        pipeline (str): Package or folder; its files are read once.
        inputs (Sequence[Input]): In order. rows (int): Per file, at most.
        settings (Mapping): What else decides about the result.
        """
        versions = {name: version(name) for name in ("spacy", "torch")}
        return cls(
            checksums(find_pipeline(pipeline)),
            dict(settings),
            {"spacy_bergamot": __version__, **versions},
            [one.facts() for one in inputs],
            rows,
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all of it (hex, 64 digits)."""
        return hashlib.sha256(self._text().encode()).hexdigest()

    @property
    def units(self) -> list[Unit]:
        """The units, in the order of the rows."""
        places = [
            (number, first, min(self.rows, one["rows"] - first))
            for number, one in enumerate(self.inputs)
            for first in range(0, one["rows"], self.rows)
        ]
        return [Unit(number, *place) for number, place in enumerate(places)]

    def shard(self, number: int, count: int) -> list[Unit]:
        """Return the units of one of `count` jobs: neighbours, so that each reads its own part.

        number, count (int): Which job, from 0, and how many there are.
        """
        units = self.units
        return units[number * len(units) // count : (number + 1) * len(units) // count]

    def write(self, store: Store) -> None:
        """Write the plan into a folder.

        store (Store): The folder.
        """
        with store.writing(PLAN) as path:
            path.write_text(self._text() + "\n", encoding="utf8")

    @classmethod
    def read(cls, store: Store) -> "Plan | None":
        """Return the plan of a folder, or None where nothing is.

        store (Store): The folder.
        RAISES (BergamotError): B002 for a plan that is none, B101 for a folder of other files.
        """
        if not store.has(PLAN):
            if store.names() not in ([], [PLAN.split("/")[0]]):
                reason = "has other files, and no plan of annotate"
                raise BergamotError(Errors.B101, path=store.url, reason=reason)
            return None
        try:
            with store.open(PLAN) as stream:
                found = parsed(stream.read().decode("utf8"))
            if found.pop("format_version") != _VERSION:
                raise ValueError("it is of another version of spacy_bergamot")
            plan = cls(**found)
            for unit in plan.units[:1]:
                assert unit.rows > 0
        except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as reason:
            what = "a plan of annotate"
            raise BergamotError(
                Errors.B002, path=store.path(PLAN), what=what, reason=repr(reason)
            ) from None
        return plan

    def check(self, begun: "Plan", store: Store) -> None:
        """Look whether a job was begun with this plan.

        begun (Plan): Of the job that was begun. store (Store): Its folder.
        RAISES (BergamotError): B040, naming what differs.
        """
        found = list(_differences(asdict(begun), json.loads(self._text())))
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise BergamotError(Errors.B040, path=store.url, what="; ".join(found[:_SHOWN]) + more)

    def _text(self) -> str:
        return json.dumps({"format_version": _VERSION, **asdict(self)}, indent=1, sort_keys=True)


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder, by name."""
    names = [name for name in listed(folder) if "__pycache__" not in name]
    with ThreadPoolExecutor(cores()) as pool:
        digests = pool.map(sha256, [folder / name for name in names])
        return dict(zip(names, digests, strict=True))


def check_ids(inputs: Sequence[Input], column: str) -> None:
    """Look whether every id is another; which takes 24 bytes of memory an id.

    inputs (Sequence[Input]): All of a job. column (str): Of the ids.
    RAISES (BergamotError): B174 with the first that comes again; rows without an id are let pass.
    """

    def ids() -> Iterator[tuple[Input, int, list[str | None]]]:
        for one in inputs:
            at, tables = one.tables(columns=[column])
            for table in tables:
                values = table.column(column).cast(pa.large_string()).to_pylist()
                yield one, at, values
                at += len(values)

    keys = [WindowKeys.of([value or "" for value in values]) for _, _, values in ids()]
    every = np.sort(np.concatenate(keys)) if keys else np.empty(0, np.uint64)
    again = np.unique(every[1:][every[1:] == every[:-1]])
    if not len(again):
        return
    known: dict[str, str] = {}
    for (one, at, values), found in zip(ids(), keys, strict=True):
        for row in np.flatnonzero(np.isin(found, again)).tolist():
            place, value = f"row {at + row} of {one.name}", values[row]
            if value is not None and known.setdefault(value, place) is not place:
                raise BergamotError(
                    Errors.B174, id=value, column=column, first=known[value], second=place
                )


def _differences(before: Any, now: Any, *, where: str = "") -> Iterator[str]:
    """Yield what differs between two JSON values, and where."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now} - {"format_version"}):
            inside = f"{where}{': ' if where else ''}{key}"
            yield from _differences(before.get(key), now.get(key), where=inside)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for old, new in zip(before, now, strict=True):
            name = new.get("path", "") if isinstance(new, dict) else ""
            yield from _differences(old, new, where=f"{where}: {name}")
    elif before != now:
        yield f"{where} was {_short(before)}, is {_short(now)}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} of them"
    text = "not there" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}…"
