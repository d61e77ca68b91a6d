"""A pipeline that an earlier state of this release saved is loaded and links as it did then.

`tests/data/pipeline` is small: invented names, a random language model, nmslib. It is replaced only
when a format version changes, and its loss is then told to users.
"""

import shutil
from pathlib import Path

import pytest
import spacy

from spacy_bergamot.storage.files import MANIFEST

SAVED = Path(__file__).parents[2] / "data/pipeline"


def test_it_links_as_it_did():
    nlp = spacy.load(SAVED)
    doc = nlp("Fever after an acute heart attack.")
    assert [(e.text, e.kb_id_) for e in doc.ents] == [("Fever", "C10"), ("heart attack", "C03")]
    found = nlp.get_pipe("bergamot_linker").explain("hart atack")["candidates"]
    assert {c["concept_id"]: c["score"] for c in found} == pytest.approx(
        {"C02": 0.0191, "C03": -0.0542, "C10": -0.1045, "C07": -0.2852, "C08": -0.3434}, abs=1e-4
    )


def test_it_is_saved_to_the_same_files(tmp_path: Path):
    spacy.load(SAVED).to_disk(tmp_path / "again")
    for path in SAVED.glob("bergamot_*/**/*"):
        if path.is_file():
            again = tmp_path / "again" / path.relative_to(SAVED)
            assert again.read_bytes() == path.read_bytes(), path


@pytest.mark.parametrize("part", ["bergamot_linker/index", "bergamot_mentions"])
def test_one_without_a_manifest_is_refused(part: str, tmp_path: Path):
    copy = shutil.copytree(SAVED, tmp_path / "copy")
    (copy / part / MANIFEST).unlink()
    with pytest.raises(ValueError, match="B001"):
        spacy.load(copy)
