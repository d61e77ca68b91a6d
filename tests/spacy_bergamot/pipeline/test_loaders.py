"""What `[initialize]` loads from: folders, which the runtime config does not name."""

import warnings
from pathlib import Path

import pytest
import spacy

from spacy_bergamot.encoder.text_encoder import EncoderSettings, TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.pipeline.loaders import (
    alias_index,
    concept_table,
    finder,
    forget_paths,
    language_model,
)


def test_a_language_model_gets_a_manifest_and_is_compared_with_it(lm: Path, tmp_path: Path):
    with pytest.warns(UserWarning, match=r"W110.*lm"):
        language_model(str(lm))(tmp_path / "one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        language_model(str(tmp_path / "one"))(tmp_path / "other")
    assert fingerprint(tmp_path / "one") == fingerprint(tmp_path / "other")
    weights = tmp_path / "one/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(BergamotError, match=r"B006.*model\.safetensors"):
        language_model(str(tmp_path / "one"))(tmp_path / "third")


@pytest.mark.filterwarnings("ignore:.*W110")
def test_what_is_given_beside_a_language_model_comes_first(lm: Path, tmp_path: Path):
    language_model(str(lm), "cls", 7, prefix="query: ")(tmp_path / "lm")
    settings = EncoderSettings.read(tmp_path / "lm")
    assert (settings.pooling, settings.max_length, settings.prefix) == ("cls", 7, "query: ")
    language_model(str(lm))(tmp_path / "plain")
    assert EncoderSettings.read(tmp_path / "plain").pooling == "mean"


def test_an_index_is_built_with_the_language_model_that_is_there(
    concepts: Path, lm: Path, tmp_path: Path
):
    vectors = str(tmp_path / "vectors")
    alias_index(str(concepts), "usearch", {"dtype": "i8"}, vectors=vectors)(tmp_path / "i", lm)
    index = AliasIndex.open(tmp_path / "i")
    assert index.manifest["lm_fingerprint"] == fingerprint(lm)
    assert (index.engine.name, index.manifest["settings"]) == ("usearch", {"dtype": "i8"})
    assert list((tmp_path / "vectors").iterdir())
    assert TextEncoder.open(lm).dim == index.manifest["dim"]


def test_folders_are_opened_when_they_are_asked_for(concepts: Path):
    later = concept_table("nothing")
    with pytest.raises(BergamotError, match="B001"):
        later()
    assert len(concept_table(str(concepts))()) == 10
    assert finder("some/folder")() == Path("some/folder")


def test_no_path_of_this_machine_stays_in_the_config(concepts: Path):
    nlp = spacy.blank("xx")
    nlp.config["paths"] = {"concepts": str(concepts), "vectors": None, "more": "/home/me"}
    nlp.add_pipe("bergamot_mentions", config={"spans_key": "/home/me"})
    nlp.add_pipe("bergamot_linker", config={"spans_key": "mine"})
    assert forget_paths()(nlp) is nlp
    assert nlp.config["paths"] == {"concepts": None, "vectors": None, "more": None}
    assert nlp.get_pipe_config("bergamot_mentions")["spans_key"] == ""
    assert nlp.get_pipe_config("bergamot_linker")["spans_key"] == "mine"
