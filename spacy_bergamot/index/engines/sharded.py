"""The engine of several: each has its share of the vectors, and the best of all are the best."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.index.engines import common, engine_class, require_engine
from spacy_bergamot.index.engines.common import Engine, Vectors
from spacy_bergamot.storage.files import atomic_folder


class ShardedEngine(Engine):
    """Engines of one kind, each of neighbouring rows, on one machine.

    While it is built, one share at a time is in memory, and a build that was killed goes on with
    the share that it was at.

    shards (list[Engine]): In the order of the rows.
    """

    name = "sharded"
    in_parts = True

    def __init__(self, shards: list[Engine], *, dim: int) -> None:
        self.ends = np.cumsum([one.count for one in shards])
        super().__init__(count=int(self.ends[-1]), dim=dim)
        self.shards = shards

    @classmethod
    def require(cls, settings: Mapping[str, Any]) -> None:
        """What the engine of a shard requires too; B037 for no shard; see `Engine.require`."""
        super().require(settings)
        common.require_at_least("shards", settings.get("shards", 1), 1)
        require_engine(settings.get("engine", "nmslib"), settings.get("settings"))

    @classmethod
    def build(
        cls,
        folder: Path,
        vectors: Vectors,
        *,
        engine: str = "nmslib",
        shards: int = 4,
        settings: Mapping[str, Any] | None = None,
        parts: Path | None = None,
        progress: bool = False,
    ) -> None:
        """Build the engines of unit vectors, float32 (n, d), one after the other.

        folder (Path): Where they are saved. progress (bool): Show a bar for each.
        engine (str): Of each shard. settings (Mapping | None): Of that engine's `build`.
        shards (int): How many there are; one for each vector where these are fewer.
        parts (Path | None): See `Engine.in_parts`: a shard that is there is not built again.
        RAISES (BergamotError): As `require`; B201 for no vectors.
        """
        own = dict(settings or {})
        cls.require({"engine": engine, "shards": shards, "settings": own})
        count, dim = common.shape_of(vectors)
        shards = min(shards, count)
        key = json.dumps([engine, shards, own], sort_keys=True)
        with common.parts_folder(folder, parts) as work:
            kept = work / f"sharded-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
            for number in range(shards):
                place = _shard(kept, number)
                if not place.exists():
                    share = _Share(
                        vectors, count * number // shards, count * (number + 1) // shards
                    )
                    with atomic_folder(place) as temporary:
                        engine_class(engine).build(temporary, share, progress=progress, **own)
            for number in range(shards):
                shutil.copytree(_shard(kept, number), _shard(folder, number), copy_function=_linked)
        common.write_facts(folder, (count, dim), engine=engine, shards=shards)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "ShardedEngine":
        """Open every shard.

        folder (Path): Of `build`.
        ef_search (int): Of each.
        """
        count, dim, settings = common.read_facts(folder)
        with common.readable(folder / "engine.json", "the facts of shards") as path:
            made = engine_class(settings["engine"])
            places = [_shard(path.parent, number) for number in range(settings["shards"])]
            shards = [made.open(place, ef_search=ef_search) for place in places]
            if [sum(one.count for one in shards), *{one.dim for one in shards}] != [count, dim]:
                raise ValueError(f"the shards do not hold {count} vectors of width {dim}")
        return cls(shards, dim=dim)

    def _nearest(self, vectors: np.ndarray, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rows, scores = [], []
        for shard, end in zip(self.shards, self.ends, strict=True):
            found, cosines = shard.search(vectors, min(k, shard.count))
            rows.append(np.where(found >= 0, found + end - shard.count, -1))
            scores.append(cosines)
        every = zip(np.concatenate(rows, axis=1), np.concatenate(scores, axis=1), strict=True)
        for of_one, cosines in every:
            there = of_one >= 0
            yield common.best_of(of_one[there], cosines[there], k)

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), self.dim), dtype=np.float32)
        owners = np.searchsorted(self.ends, rows, side="right")
        for number in np.unique(owners):
            shard, mine = self.shards[number], owners == number
            found[mine] = shard.vectors(rows[mine] - (self.ends[number] - shard.count))
        return found


class _Share:
    """Neighbouring rows of vectors, which are read when they are asked for."""

    def __init__(self, vectors: Vectors, start: int, stop: int) -> None:
        self.shape = (stop - start, vectors.shape[1])
        self._vectors = vectors
        self._start = start

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, _ = rows.indices(self.shape[0])
        return self._vectors[self._start + start : self._start + stop]


def _shard(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:03d}"


def _linked(source: str, target: str) -> None:
    """Give a file a second name, which takes no space; copy it to another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
