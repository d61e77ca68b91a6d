"""Actors of Ray make the files that processes of this machine make, also when one is killed."""

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from typer.testing import Result

from tests.spacy_bergamot.annotate.conftest import parts, read, texts, write

Run = Callable[..., Result]


def test_without_ray_it_says_how_to_install_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "ray", None)
    given = write(tmp_path / "a.parquet", texts(3))
    said = run(given, tmp_path / "out", "--engine", "ray", status=1).output
    assert "B177" in said
    assert "spacy_bergamot[ray]" in said


def test_two_actors_of_which_one_is_killed_make_the_same_files(run: Run, tmp_path: Path):
    pytest.importorskip("ray", reason="ray is not installed: its wheel has 79 MB")
    notes = [f"SLOW {text}" for text in texts(300, RAISES=3)]
    given = write(tmp_path / "a.parquet", notes, row_group_size=70)
    options = ("--rows", 100, "--keep", "ward")
    run(given, tmp_path / "local", *options)
    killed: list[int] = []
    killer = Thread(target=kill_one, args=(tmp_path / "ray", killed), daemon=True)
    killer.start()
    said = run(given, tmp_path / "ray", *options, "--engine", "ray", "--workers", 2).output
    assert killed
    assert "3 of 3 files, 300 of 300 documents" in said
    assert "1 documents failed" in said
    assert parts(tmp_path / "ray") == parts(tmp_path / "local")
    assert read(tmp_path / "ray").num_rows == 300
    assert not [path for path in (tmp_path / "ray").iterdir() if path.name.endswith(".part")]


class CrowdedRay:
    """What `annotate` uses of Ray: one actor, in this process, which has no room for a while."""

    exceptions = SimpleNamespace(RayActorError=OSError, RayTaskError=OSError)

    def init(self, **settings: Any) -> None: ...

    def shutdown(self) -> None: ...

    def put(self, what: Any) -> Any:
        return what

    def remote(self, kind: type) -> Any:
        one = kind()
        begin = SimpleNamespace(remote=lambda *given: partial(one.begin, *given))
        make = SimpleNamespace(remote=lambda *given: partial(one.make, *given))
        actor = SimpleNamespace(begin=begin, make=make)
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda: actor))

    def get(self, task: Callable[[], Any]) -> Any:
        return task()

    def wait(self, tasks: list[Any], timeout: float | None = None) -> tuple[list[Any], list[Any]]:
        return ([], tasks) if timeout else (tasks[:1], tasks[1:])

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0, "memory": 8.0 * 2**30, "node:127.0.0.1": 1.0}

    def available_resources(self) -> dict[str, float]:
        return {"CPU": 0.5}


def test_a_cluster_without_room_is_named_while_the_job_waits(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setitem(sys.modules, "ray", CrowdedRay())
    given = write(tmp_path / "a.parquet", texts(3))
    wish = ("--engine", "ray", "--workers", 1, "--worker-cpus", 4, "--worker-memory", 2)
    said = run(given, tmp_path / "out", *wish).output
    assert "3 of 3 documents" in said
    (warning,) = [one.getMessage() for one in caplog.records if "B250" in one.getMessage()]
    assert "CPU 4, GPU 0, memory 2 GiB" in warning
    assert "CPU 0.5, GPU 0, memory 0 GiB" in warning
    assert "CPU 2, GPU 0, memory 8 GiB" in warning
    assert "--worker-cpus" in warning


def kill_one(output: Path, killed: list[int]) -> None:
    """Kill an actor that is at a unit, once the first file is there."""
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline and not killed:
        time.sleep(0.02)
        if any(output.glob("*.parquet")):
            for process in psutil.Process().children(recursive=True):
                if process.name().startswith("ray::_Actor") and not killed:
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
