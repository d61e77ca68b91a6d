"""Unit vectors of a list of strings, in shards on disk: a killed run goes on where it was.

A folder with plan.json, which says of which strings, by which language model and how, and for
every shard `shard-00000.npy` (float32 or float16 (rows, d)) with `shard-00000.json`, its checksum
and the plan's. A shard whose two files do not fit each other and the plan is made again.
"""

import hashlib
import json
import logging
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import EncodesAliases
from spacy_bergamot.errors import BergamotError, Errors, check_choice
from spacy_bergamot.storage.files import NOT_OURS, atomic_file, sha256, write_text
from spacy_bergamot.storage.preflight import announce

PLAN = "plan.json"
SHARD = 1 << 16
DTYPES = ("float32", "float16")
_SAMPLE = 512
_TOKENS = 1000  # bytes of a name's tokens as Python's integers

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """What a store holds.

    strings (str), count (int): Checksum and number of the strings.
    lm_fingerprint (str), precision (str): The language model and the weights it ran with.
    dim (int), dtype (str), shard (int): Width, type and rows of a shard.
    """

    strings: str
    count: int
    lm_fingerprint: str
    precision: str
    dim: int
    dtype: str = "float32"
    shard: int = SHARD

    @property
    def id(self) -> str:
        """Hash of the plan (hex, 64 digits)."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def shards(self) -> int:
        """Number of files."""
        return -(-self.count // self.shard)

    def rows(self, number: int) -> range:
        """Return the strings of a shard.

        number (int): Of the shard.
        """
        return range(number * self.shard, min((number + 1) * self.shard, self.count))


class VectorStore:
    """The vectors of a finished store: rows by slice, float32, memory-mapped shards beneath.

    shape (tuple[int, int]): As of an array.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.plan = plan
        self.shape = (plan.count, plan.dim)
        self.shards = [
            np.load(shard_path(folder, number), mmap_mode="r") for number in range(plan.shards)
        ]

    def __len__(self) -> int:
        return self.plan.count

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Return the rows start to stop as an array of their own."""
        start, stop, _ = rows.indices(len(self))
        size = self.plan.shard
        parts = [
            self.shards[n][max(start - n * size, 0) : stop - n * size]
            for n in range(start // size, -(-stop // size))
        ]
        joined = np.concatenate(parts) if parts else np.empty((0, self.shape[1]))
        return joined.astype(np.float32)


def plan_of(
    strings: pa.Array, encoder: EncodesAliases, *, lm_fingerprint: str, dtype: str = "float32"
) -> Plan:
    """Return the plan for encoding strings.

    strings (pa.Array): Names in normal form.
    encoder (EncodesAliases): The language model.
    lm_fingerprint (str): Of the language model.
    dtype (str): Of the vectors on disk, "float32" or "float16".
    RAISES (BergamotError): B014 for an unknown dtype.
    """
    check_choice("type of vectors", dtype, DTYPES)
    digest = hashlib.sha256()
    for start in range(0, len(strings), SHARD):
        digest.update("\n".join(strings[start : start + SHARD].to_pylist()).encode())
    return Plan(
        digest.hexdigest(), len(strings), lm_fingerprint, encoder.precision, encoder.dim, dtype
    )


def fill(
    folder: Path,
    strings: pa.Array,
    encoder: EncodesAliases,
    plan: Plan,
    *,
    rank: int = 0,
    processes: int = 1,
    progress: bool = False,
) -> int:
    """Encode the shards that are missing; of n processes each takes every n-th.

    folder (Path): Of the store.
    strings (pa.Array): Names in normal form.
    encoder (EncodesAliases): The language model.
    plan (Plan): Of the store.
    rank, processes (int): Number of this process, and how many there are.
    progress (bool): Show how far it is.
    RETURNS (int): Shards that were found whole.
    RAISES (BergamotError): B040 if the folder holds other vectors.
    """
    from tqdm import tqdm

    _claim(folder, plan)
    own = range(rank, plan.shards, processes)
    missing = [number for number in own if not is_whole(folder, plan, number)]
    found = len(own) - len(missing)
    if found:
        logger.info("%d of %d shards are there already", found, len(own))
    total = sum(len(plan.rows(number)) for number in missing)
    if total >= plan.shard:
        _announce(folder, strings, encoder, plan, total)
    with tqdm(
        total=total, unit=" names", desc="Encoding", smoothing=0.1, disable=not progress
    ) as bar:
        for number in missing:
            rows = plan.rows(number)
            names = strings[rows.start : rows.stop].to_pylist()
            vectors = np.empty((len(names), plan.dim), dtype=plan.dtype)
            for piece in encoder.encode_in_pieces(names):
                vectors[piece.rows] = piece.vectors
                bar.update(len(piece.rows))
            _save(folder, plan, number, vectors)
    return found


def _announce(
    folder: Path, strings: pa.Array, encoder: EncodesAliases, plan: Plan, count: int
) -> None:
    """Say what encoding `count` strings takes, at the rate of a sample of them."""
    sample = strings.take(pa.array(np.linspace(0, len(strings) - 1, _SAMPLE).astype(np.int64)))
    names = sample.to_pylist()
    encoder.encode(names[:16])
    start = time.perf_counter()
    encoder.encode(names)
    seconds = (time.perf_counter() - start) * count / len(names)
    width = np.dtype(plan.dtype).itemsize * plan.dim
    announce(
        f"Encoding {count} names",
        memory=plan.shard * (width + _TOKENS),
        disk=count * width,
        folder=folder,
        seconds=seconds,
    )


def open_store(folder: Path, plan: Plan) -> VectorStore:
    """Open a finished store.

    folder (Path): Of the store.
    plan (Plan): What it was filled by.
    RAISES (BergamotError): B041 naming the shards that are missing.
    """
    _claim(folder, plan)
    missing = [n for n in range(plan.shards) if not is_whole(folder, plan, n)]
    if missing:
        raise BergamotError(
            Errors.B041, path=folder, missing=len(missing), all=plan.shards, first=missing[0]
        )
    return VectorStore(folder, plan)


def shard_path(folder: Path, number: int) -> Path:
    """Return the file of a shard.

    folder (Path): Of the store.
    number (int): Of the shard.
    """
    return folder / f"shard-{number:05d}.npy"


def is_whole(folder: Path, plan: Plan, number: int) -> bool:
    """Return whether a shard is there, unchanged, and of this plan.

    folder (Path): Of the store.
    number (int): Of the shard.
    """
    path = shard_path(folder, number)
    try:
        facts = json.loads(path.with_suffix(".json").read_text(encoding="utf8"))
        return facts["plan"] == plan.id and facts["sha256"] == sha256(path)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _claim(folder: Path, plan: Plan) -> None:
    """Write the plan, or compare it with the one that is there."""
    path = folder / PLAN
    if not path.is_file():
        if folder.is_dir() and any(not p.name.startswith(".") for p in folder.iterdir()):
            raise BergamotError(Errors.B101, path=folder, reason=NOT_OURS)
        write_text(path, json.dumps(asdict(plan), indent=1) + "\n")
        return
    try:
        found = Plan(**json.loads(path.read_text(encoding="utf8")))
    except (ValueError, TypeError) as reason:
        raise BergamotError(
            Errors.B002, path=path, what="a plan of vectors", reason=reason
        ) from None
    if found != plan:
        mine, theirs = asdict(plan), asdict(found)
        differing = ", ".join(key for key in mine if mine[key] != theirs[key])
        raise BergamotError(Errors.B040, path=folder, what=f"vectors that differ by {differing}")


def _save(folder: Path, plan: Plan, number: int, vectors: np.ndarray) -> None:
    path = shard_path(folder, number)
    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        np.save(stream, vectors)
    facts: dict[str, Any] = {"plan": plan.id, "sha256": sha256(path)}
    write_text(path.with_suffix(".json"), json.dumps(facts) + "\n")
