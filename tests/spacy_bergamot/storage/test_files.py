"""Files and folders are whole or absent, also of processes that are killed."""

import errno
import hashlib
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.storage.files import (
    MANIFEST,
    atomic_file,
    atomic_folder,
    explained_write_errors,
    lock_folder,
    mapped_array,
    sha256,
)
from spacy_bergamot.storage.manifest import write_manifest


def write_half(path: Path) -> None:
    path.write_text("half")
    raise ZeroDivisionError


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 1, 1 << 18, (1 << 19) + 3])
def test_the_checksum_is_that_of_the_whole_file(tmp_path: Path, size: int):
    data = np.random.default_rng(size).bytes(size)
    (tmp_path / "file").write_bytes(data)
    assert sha256(tmp_path / "file") == hashlib.sha256(data).hexdigest()


def test_a_file_is_replaced_when_it_is_whole(tmp_path: Path):
    path = tmp_path / "new/folder/file"
    for text in ("one", "other"):
        with atomic_file(path) as temporary:
            temporary.write_text(text)
        assert path.read_text() == text
    with pytest.raises(ZeroDivisionError), atomic_file(path) as temporary:
        write_half(temporary)
    assert path.read_text() == "other"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_is_replaced_when_it_is_whole(tmp_path: Path):
    path = tmp_path / "deep/out"
    for text in ("one", "other"):
        with atomic_folder(path) as folder:
            (folder / MANIFEST).write_text(text)
            (folder / text).write_text(text)
        assert sorted(file.name for file in path.iterdir()) == sorted([MANIFEST, text])
    with pytest.raises(ZeroDivisionError), atomic_folder(path) as folder:
        write_half(folder / "half")
    assert (path / MANIFEST).read_text() == "other"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_or_file_of_somebody_else_is_not_replaced(tmp_path: Path):
    thesis = tmp_path / "thesis/text"
    thesis.parent.mkdir()
    thesis.write_text("mine")
    for path in (thesis, thesis.parent):
        with pytest.raises(BergamotError, match=r"B101.*thesis"), atomic_folder(path):
            pass
    assert thesis.read_text() == "mine"
    empty = tmp_path / "empty"
    empty.mkdir()
    with atomic_folder(empty) as folder:
        (folder / "file").write_text("x")
    assert (empty / "file").read_text() == "x"


@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_a_new_folder_may_be_read_as_the_umask_says(tmp_path: Path, mask: int):
    before = os.umask(mask)
    try:
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "deep").mkdir()
            (folder / "deep/file").write_text("x")
            (folder / "deep/file").chmod(0o600)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"out": 0o777 & ~mask, "deep": 0o777 & ~mask, "file": 0o666 & ~mask}


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "x"),
        OSError(errno.EACCES, "x"),
        OSError(errno.EROFS, "x"),
        RuntimeError(f"io error: {os.strerror(errno.ENOSPC)}"),  # as safetensors says it
    ],
)
def test_a_disk_that_is_full_or_refuses_is_named(tmp_path: Path, error: Exception):
    named = pytest.raises(BergamotError, match=r"B007.*somewhere")
    with named, explained_write_errors(tmp_path / "somewhere"):
        raise error


@pytest.mark.parametrize("error", [RuntimeError("another"), OSError(errno.ENOENT, "none")])
def test_other_errors_stay_as_they_are(tmp_path: Path, error: Exception):
    with pytest.raises(type(error)) as raised, explained_write_errors(tmp_path / "x"):
        raise error
    assert raised.value is error


def test_a_folder_has_one_lock(tmp_path: Path):
    handle = lock_folder(tmp_path)
    assert handle is not None
    assert lock_folder(tmp_path) is None
    os.close(handle)
    again = lock_folder(tmp_path)
    assert again is not None
    os.close(again)
    assert lock_folder(tmp_path / "nothing") is None


@given(st.lists(st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3), min_size=1))
def test_a_mapped_array_is_an_array_on_disk(tmp_path_factory: pytest.TempPathFactory, rows):
    path = tmp_path_factory.mktemp("arrays") / "a.npy"
    array = mapped_array(path, np.float32, (len(rows), 3))
    array[:] = rows
    array.flush()
    np.testing.assert_array_equal(np.load(path), np.array(rows, dtype=np.float32))


def test_files_of_killed_processes_are_removed_and_those_in_use_stay(tmp_path: Path):
    path = tmp_path / "history.json"
    child = os.fork()
    if child == 0:
        with atomic_file(path) as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    running = left.with_name(left.name.replace(str(child), str(os.getppid())))
    elsewhere = left.with_name(left.name.replace("@", "@elsewhere."))
    for file in (running, elsewhere):
        file.write_text("x")
    with atomic_file(path) as temporary:
        temporary.write_text("whole")
    assert {path, running, elsewhere} == set(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_and_what_another_writes_is_not(tmp_path: Path):
    def write() -> None:
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "file").write_text("x")
            write_manifest(folder, kind="k", version=1)

    child = os.fork()
    if not child:
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "large").write_text("x")
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 1
    with atomic_folder(tmp_path / "out") as mine:
        (mine / "file").write_text("y")
        write()
        assert mine.exists()
        write_manifest(mine, kind="k", version=1)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out/file").read_text() == "y"
