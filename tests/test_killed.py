"""Killed at any moment, nothing is taken for whole that is not, and the same command ends well."""

import contextlib
import hashlib
import os
import random
import shutil
import signal
import time
import traceback
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
from tests.processes import ROOT, Command
from tests.spacy_bergamot.conftest import write_concepts, write_lm


def kill_along(command: list[object], moments: int, check: Callable[[], object]) -> None:
    """Run a command to its end once for its time, then kill it at moments spread over that.

    What is there after each must be whole by the check, or a coded error.
    """
    process, begin = Command(*command), time.perf_counter()
    assert process.wait(200) == 0
    seconds, killed = time.perf_counter() - begin, 0
    for moment in range(1, moments + 1):
        process = Command(*command)
        time.sleep(seconds * moment / (moments + 1))
        killed += process.kill_group() == -signal.SIGKILL
        with contextlib.suppress(BergamotError):
            check()
    assert killed


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
    assert Command(*command).wait(100) == 0
    assert Command(*command[:-1], tmp_path / "whole").wait(100) == 0
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


@pytest.mark.timeout(300)
def test_assembling(tmp_path: Path):
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    command = [
        "spacy", "assemble", ROOT / "configs/linker.cfg", tmp_path / "pipeline",
        "--paths.encoder", lm, "--paths.concepts", concepts,
        "--paths.alias_vectors", tmp_path / "vectors",
    ]  # fmt: skip

    def check() -> None:
        try:
            assert links(tmp_path / "pipeline") == ["C01"]
        except ValueError as error:
            # spaCy writes its own files in place, and refuses halves of them with uncoded errors.
            frames = traceback.extract_tb(error.__traceback__)
            if isinstance(error, BergamotError) or "srsly" in Path(frames[-1].filename).parts:
                return
            raise

    kill_along(command, 2, check)
    assert Command(*command).wait(200) == 0
    assert links(tmp_path / "pipeline") == ["C01"]
    folders = {path.name for path in tmp_path.rglob(".*.part")}
    assert not folders


def wait_for_files(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 200
    while len(list(folder.glob("part-*"))) < count and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.timeout(1200)
def test_annotating(tmp_path: Path):
    """All processes at once, while they make files; then the job alone: its workers end with it."""
    pipeline = tmp_path / "pipeline"
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="en", engine="exact").to_disk(pipeline)
    texts = [f"note {row}: fever, {row} high blood pressures" for row in range(1200)]
    table = pa.table({"id": range(len(texts)), "text": texts})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=200)
    out, whole = tmp_path / "killed", tmp_path / "whole"
    command = ["spacy", "bergamot", "annotate", pipeline, tmp_path / "in.parquet"]
    options = ["--rows", "120", "--workers", "2"]
    process = Command(*command, whole, *options)
    wait_for_files(whole, 1)
    begin = time.perf_counter()
    assert process.wait(300) == 0
    seconds = time.perf_counter() - begin
    expected = content(whole)
    moments = random.Random(0)
    for _ in range(int(os.environ.get("KILLS", "2"))):
        process = Command(*command, out, *options)
        wait_for_files(out, len(list(out.glob("part-*"))) + 1)
        time.sleep(moments.uniform(0, 0.7) * seconds)
        process.kill_group()
        found = content(out) if out.exists() else {}
        parts = {name: mark for name, mark in found.items() if name.startswith("part-")}
        assert parts
        assert parts.items() <= expected.items()
        if len(parts) == len(expected) - 2:
            shutil.rmtree(out)
    shutil.rmtree(out, ignore_errors=True)
    process = Command(*command, out, *options)
    while len(workers := psutil.Process(process.pid).children(recursive=True)) < 2:
        time.sleep(0.1)
    process.kill()
    process.wait(60)
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert not alive
    assert Command(*command, out, *options).wait(300) == 0
    assert content(out) == expected
    assert pq.read_table(out).column("id").to_pylist() == list(range(len(texts)))
