"""`translate` with a model, with a function of one's own, and with what is neither."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.training.translate.texts import MENTIONS, TEXT, WORDS, corpus_of
from training.__main__ import app
from training.corpora.schema import Corpus
from training.errors import BergamotError
from training.translate.translators import load_translator


def write_marian(folder: Path) -> Path:
    """Write a tiny Marian with random weights, and the SentencePiece models that it needs."""
    import sentencepiece
    import torch
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    (folder / "text.txt").write_text("\n".join([TEXT.replace("\n", " "), *WORDS, *WORDS.values()]))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "source"), vocab_size=45,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    model = (folder / "source.model").read_bytes()
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.model"))
    known = [pieces.id_to_piece(number) for number in range(len(pieces))]
    ids = {piece: number for number, piece in enumerate(dict.fromkeys(["</s>", *known, "<pad>"]))}
    (folder / "vocab.json").write_text(json.dumps(ids))
    tokenizer = MarianTokenizer(
        source_spm=str(folder / "source.spm"), target_spm=str(folder / "target.spm"),
        vocab=str(folder / "vocab.json"),
    )  # fmt: skip
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(ids), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, max_position_embeddings=256, pad_token_id=ids["<pad>"],
        eos_token_id=0, decoder_start_token_id=ids["<pad>"], forced_eos_token_id=0,
    )  # fmt: skip
    MarianMTModel(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    return folder / "model"


@pytest.mark.filterwarnings("ignore:Recommended")
@pytest.mark.parametrize("project", ["marks", "search"])
def test_a_random_marian_gives_a_corpus_whose_losses_are_counted(tmp_path: Path, project: str):
    pytest.importorskip("sentencepiece")
    model = write_marian(tmp_path)
    corpus_of(TEXT, MENTIONS).write(tmp_path / "corpus")
    words = ["translate", tmp_path / "corpus", tmp_path / "out", "--translator", f"hf:{model}",
             "--target", "fr", "--project", project]  # fmt: skip
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.exception
    made = Corpus.open(tmp_path / "out")
    facts = made.facts["translation"]
    counted = sum(facts["counts"].values()) - facts["counts"].get("marks that nobody had set", 0)
    assert facts["mentions"] == 5 == made.mentions.num_rows + counted
    assert f"{made.mentions.num_rows} of 5 mentions kept" in done.output
    text = made.documents.to_pylist()[0]["text"]
    for row in made.mentions.to_pylist():
        assert " ".join(text[row["starts"][0] : row["ends"][0]].split()) == row["mention"]


def test_the_command_takes_a_function_of_ones_own(tmp_path: Path, monkeypatch):
    (tmp_path / "own_translator.py").write_text(
        "def shout(texts): return [t.upper() for t in texts]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    corpus_of(TEXT, MENTIONS).write(tmp_path / "corpus")
    words = ["translate", tmp_path / "corpus", tmp_path / "out", "--translator",
             "own_translator:shout", "--target", "de", "--marks", "xml"]  # fmt: skip
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.exception
    assert "5 of 5 mentions kept, 0.00 % lost" in done.output
    rows = Corpus.open(tmp_path / "out").mentions.to_pylist()
    assert {row["mention"] for row in rows} == {mention.upper() for mention in MENTIONS}
    assert {row["language"] for row in rows} == {"GER"}
    sys.modules.pop("own_translator")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--translator", "hf:nothing", "--target", "fr"], "T285.*config.json"),
        (["--translator", "nothing:f", "--target", "fr"], "T285.*nothing"),
        (["--translator", "json:nothing", "--target", "fr"], "T285.*nothing"),
        (["--translator", "json", "--target", "fr"], "T285"),
        (["--translator", "json:dumps", "--target", "fr"], "T287.*str"),
        (["--translator", "json:dumps", "--target", "xyz"], "B014"),
        (["--translator", "json:dumps", "--target", "fr", "--marks", "x"], "B014.*--marks.*xml"),
        (["--translator", "json:dumps", "--target", "fr", "--project", "x"], "B014.*search"),
    ],
)
def test_what_cannot_be_translated_says_why(tmp_path: Path, options: list[str], code: str):
    corpus_of(TEXT, MENTIONS).write(tmp_path / "corpus")
    words = ["translate", str(tmp_path / "corpus"), str(tmp_path / "out"), *options]
    with pytest.raises(BergamotError, match=code):
        raise CliRunner().invoke(app, words).exception
    assert not (tmp_path / "out").exists()


def test_a_language_that_a_model_lacks_is_refused(tmp_path: Path):
    from training.translate.translators import _token

    known = ["eng_Latn", "fra_Latn", "zho_Hans"]
    assert [_token(code, known, tmp_path) for code in ("en", "fr", "zh")] == known
    assert _token("de", ["__de__", "__fr__"], tmp_path) == "__de__"
    with pytest.raises(BergamotError, match=r"B014.*'xx'.*eng_Latn"):
        _token("xx", known, tmp_path)
    with pytest.raises(BergamotError, match="T285"):
        load_translator("hf:", source="en", target="fr")
