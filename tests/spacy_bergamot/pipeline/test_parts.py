"""What a linker carries: the same from disk, from bytes and restored, and checked together."""

import gc
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.loaders import alias_index, language_model
from spacy_bergamot.pipeline.parts import LinkerParts
from tests.spacy_bergamot.conftest import write_lm
from tests.spacy_bergamot.factories import NEW, add

SETTINGS = LinkerSettings()


@pytest.fixture
def updated(make_nlp) -> BergamotLinker:
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    linker.update_index([add("X1", "zebra", **NEW)])
    return linker


@pytest.fixture
def parts(updated: BergamotLinker) -> LinkerParts:
    return updated.parts


def found(parts: LinkerParts) -> list[list[tuple[str, float]]]:
    every = parts.generator.generate([("zebra", ""), ("heart attacks", ""), ("高血圧", "")], k=5)
    return [[(one.concept_id, one.score) for one in of] for of in every]


def test_parts_find_the_same_wherever_they_come_from(parts: LinkerParts, tmp_path: Path):
    expected = found(parts)
    assert expected[0][0] == ("X1", 1.0)
    parts.to_disk(tmp_path / "saved")
    for other in (
        LinkerParts.from_disk(tmp_path / "saved", SETTINGS, name="x"),
        LinkerParts.from_bytes(parts.to_bytes(), SETTINGS, name="x"),
        LinkerParts(pickle.loads(pickle.dumps(parts.bundles)), SETTINGS, name="x"),
    ):
        assert found(other) == expected
        assert other.provenance == parts.provenance
    assert parts.provenance["changes"] == {"added": 1, "removed": 0}
    assert parts.provenance["concepts"] == 11


def test_a_part_that_is_left_out_is_not_there(parts: LinkerParts, tmp_path: Path):
    parts.to_disk(tmp_path / "saved", exclude=["changes"])
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["encoder", "index"]
    parts.to_disk(tmp_path / "saved")
    read = LinkerParts.from_disk(tmp_path / "saved", SETTINGS, name="x", exclude=["changes"])
    assert read.changes is None
    assert (
        LinkerParts.from_bytes(parts.to_bytes(exclude=["changes"]), SETTINGS, name="x").changes
        is None
    )
    read.to_disk(tmp_path / "saved")  # what is there no more goes
    assert not (tmp_path / "saved/changes").exists()
    with pytest.raises(BergamotError, match="B001"):
        LinkerParts.from_disk(tmp_path / "nothing", SETTINGS, name="x")


def test_parts_on_disk_are_pickled_by_their_path(parts: LinkerParts, tmp_path: Path):
    parts.to_disk(tmp_path / "saved")
    mapped = LinkerParts.from_disk(tmp_path / "saved", SETTINGS, name="x")
    bundles = pickle.loads(pickle.dumps(mapped.bundles))
    assert {one.path for one in bundles.values()} == set((tmp_path / "saved").iterdir())


def test_hidden_aliases_are_not_found(parts: LinkerParts):
    hidden = np.zeros(parts.index.table.aliases.num_rows, dtype=bool)
    hidden[parts.index.alias_rows(int(parts.index.lookup(["heart attack"])[0]))] = True
    candidates = parts.hiding(hidden).generate([("heart attack", ""), ("zebra", "")], k=5)
    assert "heart attack" not in {one.alias for one in candidates[0]}
    assert candidates[1][0].concept_id == "X1"
    assert found(parts)[1][0][0] == "C03"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (LinkerSettings(min_probability=0.5), "B055"),
        (LinkerSettings(allowed=CandidateFilter(languages=("FIN",))), "B033"),
    ],
)
def test_settings_that_do_not_fit_the_parts_are_refused(parts: LinkerParts, settings, code):
    with pytest.raises(BergamotError, match=code):
        LinkerParts(parts.bundles, settings, name="x")


@pytest.mark.parametrize("data", [b"", b"\x07", b"\x80", b"\x82\xa7encoder\x01\xa5index\x01"])
def test_bytes_of_something_else_are_refused(data: bytes):
    with pytest.raises(BergamotError, match=r"B035.*my_linker"):
        LinkerParts.from_bytes(data, SETTINGS, name="my_linker")


def test_the_index_of_another_language_model_is_refused(saved, concepts, tmp_path):
    nlp = spacy.load(saved)
    other = write_lm(tmp_path / "other", seed=1)
    linker = nlp.get_pipe("bergamot_linker")
    linker.initialize(
        lambda: [], encoder=language_model(str(other)), index=alias_index(str(concepts))
    )
    linker.parts.bundles["index"].copy_to(saved / "bergamot_linker/index")
    with pytest.raises(BergamotError, match="B031"):
        spacy.load(saved)


def test_a_pipeline_that_is_dropped_gives_its_memory_back_at_once(saved):
    """Nothing refers back: an index of gigabytes must not wait for the garbage collector."""
    linker = spacy.load(saved).get_pipe("bergamot_linker")
    linker.kb.cui_to_entity["C01"]
    references = [weakref.ref(linker.parts), weakref.ref(linker.parts.index)]
    gc.disable()
    try:
        linker.set_parts(LinkerParts(linker.parts.bundles, linker.settings, name="x"))
        assert [reference() for reference in references] == [None, None]
    finally:
        gc.enable()
