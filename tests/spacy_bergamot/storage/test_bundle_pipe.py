"""A component of files is the same from disk, from bytes and from a pickle."""

import pickle
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.storage.bundle_pipe import BundlePipe
from spacy_bergamot.storage.files import MANIFEST

FILES = {MANIFEST: b"{}", "deep/greeting": b"hello"}


class Greeter(BundlePipe):
    """Says what its file says, so many times."""

    def __init__(self, vocab: Vocab, name: str, *, times: int = 1) -> None:
        super().__init__(vocab, name, SimpleNamespace(times=times))
        self.greeting = ""

    def set_files(self, bundle: FileBundle) -> "Greeter":
        text = (bundle.path / "deep/greeting").read_text()
        self.bundle, self.greeting = bundle, text * self.settings.times
        return self

    def __call__(self, doc: Doc) -> Doc:
        return doc


@pytest.fixture
def pipe() -> Greeter:
    return Greeter(Vocab(), "greeter", times=2).set_files(FileBundle.from_bytes(FILES))


def fresh() -> Greeter:
    return Greeter(Vocab(), "greeter", times=2)


def test_disk_and_bytes_give_the_same_component(pipe: Greeter, tmp_path: Path):
    pipe.to_disk(tmp_path / "saved")
    assert fresh().from_disk(tmp_path / "saved").greeting == "hellohello"
    assert fresh().from_bytes(pipe.to_bytes()).greeting == "hellohello"
    pipe.from_disk(tmp_path / "saved").to_disk(tmp_path / "saved")  # where it was loaded from
    assert fresh().from_disk(str(tmp_path / "saved")).greeting == "hellohello"


def test_a_pickle_has_the_files_that_the_component_owns():
    pipe = fresh().set_files(FileBundle.from_bytes(FILES))
    data, path = pickle.dumps(pipe), pipe.bundle.path
    del pipe
    assert not path.exists()
    copied = pickle.loads(data)
    assert (type(copied), copied.name, copied.greeting) == (Greeter, "greeter", "hellohello")


def test_a_pickle_has_the_path_of_files_on_disk(pipe: Greeter, tmp_path: Path):
    pipe.to_disk(tmp_path / "saved")
    data = pickle.dumps(pipe.from_disk(tmp_path / "saved"))
    assert b"hello" not in data
    assert pickle.loads(data).greeting == "hellohello"
    shutil.rmtree(tmp_path / "saved")
    with pytest.raises(FileNotFoundError):
        pickle.loads(data)


def test_a_component_without_files_says_so_and_is_pickled(tmp_path: Path):
    with pytest.raises(BergamotError, match=r"B030.*greeter"):
        fresh().to_disk(tmp_path / "saved")
    with pytest.raises(BergamotError, match=r"B030.*greeter"):
        fresh().to_bytes()
    assert pickle.loads(pickle.dumps(fresh())).bundle is None


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x07", b"\x81\xa1a\x01", b"\x91\xa1a"])
def test_bytes_of_something_else_are_refused(pipe: Greeter, data: bytes):
    with pytest.raises(BergamotError, match=r"B035.*greeter"):
        pipe.from_bytes(data)
    assert pipe.greeting == "hellohello"
