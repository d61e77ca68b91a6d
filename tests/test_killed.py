"""Killed at any moment, nothing is taken for whole that is not, and the same command ends well."""

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.pipeline.build import build_pipeline
from tests.spacy_bergamot.conftest import write_concepts, write_lm

ROOT = Path(__file__).parents[1]


def start(*arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-m", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    )


def kill_along(command: list[object], moments: int, check: Callable[[], object]) -> None:
    """Run a command to its end once for its time, then kill it at moments spread over that.

    What is there after each must be whole by the check, or a coded error.
    """
    begin = time.perf_counter()
    assert start(*command).wait(200) == 0
    seconds = time.perf_counter() - begin
    for moment in range(1, moments + 1):
        process = start(*command)
        time.sleep(seconds * moment / (moments + 1))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with contextlib.suppress(BergamotError):
            check()


def content(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def links(pipeline: Path) -> list[str]:
    return [ent.kb_id_ for ent in spacy.load(pipeline)("Bluthochdruck").ents]


@pytest.mark.timeout(200)
def test_preprocessing(tmp_path: Path):
    command = ["training", "preprocess", ROOT / "assets/sample/META", tmp_path / "killed"]
    kill_along(command, 5, lambda: ConceptTable.open(tmp_path / "killed/kb"))
    assert start(*command).wait(100) == 0
    assert start(*command[:-1], tmp_path / "whole").wait(100) == 0
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


@pytest.mark.timeout(300)
def test_assembling(tmp_path: Path):
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    command = [
        "spacy", "assemble", ROOT / "configs/linker.cfg", tmp_path / "pipeline",
        "--paths.encoder", lm, "--paths.concepts", concepts,
        "--paths.alias_vectors", tmp_path / "vectors",
    ]  # fmt: skip
    kill_along(command, 2, lambda: links(tmp_path / "pipeline"))
    assert start(*command).wait(200) == 0
    assert [ent.kb_id_ for ent in spacy.load(tmp_path / "pipeline")("Bluthochdruck").ents] == [
        "C01"
    ]
    folders = {path.name for path in tmp_path.rglob(".*.part")}
    assert not folders


@pytest.mark.timeout(1200)
def test_annotating(tmp_path: Path):
    """All processes at once, some times; then the job alone, whose workers end with it."""
    pipeline = tmp_path / "pipeline"
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="en", engine="exact").to_disk(pipeline)
    texts = [f"note {row}: fever, {row} high blood pressures" for row in range(3000)]
    table = pa.table({"id": range(len(texts)), "text": texts})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=500)
    out, whole = tmp_path / "killed", tmp_path / "whole"
    command = ["spacy", "bergamot", "annotate", pipeline, tmp_path / "in.parquet"]
    options = ["--rows", "300", "--workers", "2"]
    begin = time.perf_counter()
    assert start(*command, whole, *options).wait(300) == 0
    seconds = time.perf_counter() - begin
    expected = content(whole)
    moments, begun = random.Random(0), 0
    kills = int(os.environ.get("KILLS", "2"))
    for _ in range(kills):
        process = start(*command, out, *options)
        time.sleep(moments.uniform(0.3, 1) * seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = content(out) if out.exists() else {}
        parts = {name: mark for name, mark in found.items() if name.startswith("part-")}
        assert parts.items() <= expected.items()
        begun += bool(parts)
        if len(parts) == len(expected) - 2:
            shutil.rmtree(out)
    assert begun >= min(3, kills // 3)
    shutil.rmtree(out, ignore_errors=True)
    process = start(*command, out, *options)
    while len(workers := psutil.Process(process.pid).children(recursive=True)) < 2:
        time.sleep(0.1)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert not alive
    assert start(*command, out, *options).wait(300) == 0
    assert content(out) == expected
    assert pq.read_table(out).column("id").to_pylist() == list(range(len(texts)))
