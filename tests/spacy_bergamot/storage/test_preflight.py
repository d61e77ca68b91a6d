from collections import namedtuple
from pathlib import Path

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import NmslibEngine
from spacy_bergamot.storage import preflight

Usage = namedtuple("Usage", "total used free")
GIB = 1 << 30


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: Usage(0, 0, 2 * GIB))
    monkeypatch.setattr(preflight, "available_memory", lambda: 4 * GIB)


def test_the_needs_of_a_step_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    folder = tmp_path / "not/yet"
    preflight.announce("Step", memory=3 * GIB, disk=GIB, folder=folder, seconds=7200)
    assert caplog.messages == [
        "Step: about 3.0 GiB of memory (4.0 GiB available), 1.0 GiB of disk (2.0 GiB free), "
        "about 2.0 hours"
    ]


def test_too_little_memory_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    preflight.announce("Step", memory=5 * GIB, disk=0, folder=tmp_path)
    assert [r.levelname for r in caplog.records] == ["WARNING"]


def test_too_small_a_disk_stops_the_step_before_it_begins(tmp_path: Path):
    with pytest.raises(BergamotError, match=r"B043.*3\.0 GiB of disk.*2\.0 GiB free"):
        preflight.announce("Step", memory=0, disk=3 * GIB, folder=tmp_path)

    class Huge:
        shape = (16_000_000, 768)

    with pytest.raises(BergamotError, match="B043"):
        NmslibEngine.build(tmp_path / "index", Huge())
    assert not (tmp_path / "index").exists()


def test_a_container_s_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    (tmp_path / "max").write_text("3000\n")
    (tmp_path / "current").write_text("1000\n")
    monkeypatch.setattr(preflight, "_CGROUP", ((tmp_path / "max", tmp_path / "current"),))
    assert preflight.available_memory() == 2000
    (tmp_path / "max").write_text("max\n")
    assert preflight.available_memory() != 2000
    assert preflight.free_disk(tmp_path / "a/b") > 0
    assert preflight.cores() >= 1
