"""Bundles of files: what goes in comes out, and nothing is written outside."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.storage.files import MANIFEST

NAMES = st.lists(st.sampled_from(["a", "b.npy", "ü", "deep"]), min_size=1, max_size=3)
FILES = st.dictionaries(NAMES.map(lambda parts: "/".join([*parts, "file"])), st.binary())


@given(FILES)
def test_files_come_back_from_bytes(files: dict[str, bytes]):
    bundle = FileBundle.from_bytes(files)
    assert bundle.to_bytes(name="x") == files


@pytest.mark.parametrize("name", ["../escaped", "a/../../escaped", "/tmp/escaped", "x/../../y"])
def test_a_name_that_leads_outside_is_refused(name: str):
    with pytest.raises(BergamotError, match=r"B035.*bad path"):
        FileBundle.from_bytes({"fine": b"x", name: b"x"})


def test_a_bundle_of_its_own_goes_when_nobody_has_it():
    bundle = FileBundle.from_bytes({"a": b"x"})
    path = bundle.path
    assert (path / "a").read_bytes() == b"x"
    del bundle
    assert not path.exists()


def test_more_than_msgpack_holds_is_refused_before_it_is_read(tmp_path: Path):
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**32)  # takes no space on the disk
    with pytest.raises(BergamotError, match=r"B034.*my_pipe"):
        FileBundle(tmp_path).to_bytes(name="my_pipe")


def test_files_are_copied_also_onto_themselves(tmp_path: Path):
    bundle = FileBundle.from_bytes({MANIFEST: b"{}", "deep/a": b"x"})
    for target in (tmp_path / "one", tmp_path / "other", tmp_path / "one"):
        bundle.copy_to(target)
        bundle = FileBundle(target)
        bundle.copy_to(target)
        assert bundle.to_bytes(name="x") == {MANIFEST: b"{}", "deep/a": b"x"}
