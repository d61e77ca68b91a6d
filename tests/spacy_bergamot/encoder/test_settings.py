"""Pooling comes from the folder or from the user, and from nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.errors import BergamotError
from tests.plain_models import add_sentence_transformers, switches


def test_what_was_written_is_read(tmp_path: Path):
    settings = EncoderSettings("mean", 31, False)
    settings.write(tmp_path)
    assert EncoderSettings.read(tmp_path) == settings
    assert EncoderSettings.read(tmp_path, pooling="cls").pooling == "cls"
    assert EncoderSettings.read(tmp_path, max_length=7, lowercase=True).max_length == 7


@pytest.mark.parametrize("text", [None, "{}", '{"max_length": 10}'])
def test_a_folder_that_does_not_say_its_pooling_is_refused(tmp_path: Path, text: str | None):
    if text is not None:
        (tmp_path / "bergamot.json").write_text(text)
    with pytest.raises(BergamotError, match=r"B080.*--pooling.*mean for .*cls for SapBERT"):
        EncoderSettings.read(tmp_path)
    assert EncoderSettings.read(tmp_path, pooling="cls").pooling == "cls"


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        (switches("mean_tokens"), "mean"),
        (switches("cls_token"), "cls"),
        ({"embedding_dimension": 32, "pooling_mode": "mean"}, "mean"),
        ({"embedding_dimension": 32, "pooling_mode": ["cls"]}, "cls"),
    ],
)
def test_sentence_transformers_files_say_pooling_and_length(
    tmp_path: Path, pooling: dict[str, Any], expected: str
):
    add_sentence_transformers(tmp_path, pooling, max_length=128)
    assert EncoderSettings.read(tmp_path) == EncoderSettings(expected, 128, True)
    (tmp_path / "modules.json").unlink()
    assert EncoderSettings.read(tmp_path, max_length=9) == EncoderSettings(expected, 9, True)


def test_without_a_length_names_have_25_tokens(tmp_path: Path):
    add_sentence_transformers(tmp_path, switches("mean_tokens"), max_length=None)
    assert EncoderSettings.read(tmp_path).max_length == 25


@pytest.mark.parametrize(
    "pooling",
    [
        switches("max_tokens"),
        switches("mean_sqrt_len_tokens"),
        switches("cls_token", "mean_tokens"),
        switches(),
        {"pooling_mode": "lasttoken"},
        {"pooling_mode": ["mean", "max"]},
    ],
)
def test_other_ways_of_pooling_are_refused_unless_one_is_given(
    tmp_path: Path, pooling: dict[str, Any]
):
    add_sentence_transformers(tmp_path, pooling)
    with pytest.raises(BergamotError, match=r"B081.*1_Pooling"):
        EncoderSettings.read(tmp_path)
    assert EncoderSettings.read(tmp_path, pooling="mean") == EncoderSettings("mean", 40, True)


def test_modules_behind_the_pooling_are_refused_unless_one_is_given(tmp_path: Path):
    modules = ("Transformer", "Pooling", "Dense", "Normalize")
    add_sentence_transformers(tmp_path, switches("cls_token"), modules=modules)
    with pytest.raises(BergamotError, match=r"B081.*Dense"):
        EncoderSettings.read(tmp_path)
    assert EncoderSettings.read(tmp_path, pooling="cls").pooling == "cls"


@pytest.mark.parametrize("name", ["bergamot.json", "modules.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("text", ["{", "[3]", '"mean"'])
def test_files_that_are_not_what_they_should_be_are_named(tmp_path: Path, name: str, text: str):
    add_sentence_transformers(tmp_path, switches("mean_tokens"))
    (tmp_path / name).write_text(text)
    with pytest.raises(BergamotError, match=f"B002.*{name}"):
        EncoderSettings.read(tmp_path)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"pooling": "max"}, "B014"),
        ({"pooling": "cls", "max_length": 0}, "B037"),
        ({"pooling": "cls", "max_length": "long"}, "B002"),
        ({"pooling": "cls", "width": 3}, "B002"),
    ],
)
def test_settings_that_there_are_not_are_refused(tmp_path: Path, said: dict, code: str):
    (tmp_path / "bergamot.json").write_text(json.dumps(said))
    with pytest.raises(BergamotError, match=code):
        EncoderSettings.read(tmp_path)
