"""The list of a pipeline's files, and what is not as it says."""

from collections.abc import Callable
from pathlib import Path

import pytest
import srsly

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.pipeline_files import changed_files, list_files


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x20
    path.write_bytes(data)


@pytest.mark.parametrize(
    "name", ["vocab/strings.json", "vocab/lookups.bin", "tokenizer", "config.cfg", "meta.json",
             "bergamot_linker/index/keys.npy", "bergamot_mentions/manifest.json"],
)  # fmt: skip
@pytest.mark.parametrize("change", [flip, lambda path: path.unlink(), lambda p: p.write_bytes(b"")])
def test_what_differs_is_named(saved: Path, name: str, change: Callable[[Path], object]):
    list_files(saved)
    assert changed_files(saved) == []
    change(saved / name)
    (problem,) = changed_files(saved)
    assert name in problem


def test_what_spacy_package_writes_anew_is_no_change(saved: Path):
    list_files(saved)
    meta = srsly.read_json(saved / "meta.json")
    meta["vectors"].pop("mode", None)
    packaged = {"requirements": ["spacy>=3.7"], **meta}
    srsly.write_json(saved / "meta.json", packaged)
    assert changed_files(saved) == []
    srsly.write_json(saved / "meta.json", packaged | {"license": "none"})
    (problem,) = changed_files(saved)
    assert "meta.json" in problem


def test_a_pipeline_without_a_list_is_refused(saved: Path):
    with pytest.raises(BergamotError, match=r"B113.*pipeline"):
        changed_files(saved)


def test_only_what_spacy_adds_is_no_change(saved: Path):
    list_files(saved)
    (saved / "README.md").write_text("spaCy writes one")
    assert changed_files(saved) == []
    (saved / "vocab/more").write_text("x")
    (problem,) = changed_files(saved)
    assert "vocab/more" in problem
