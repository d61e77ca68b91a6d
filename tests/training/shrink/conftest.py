"""Tiny language models with the two kinds of vocabulary that can be cut, and names they know."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from spacy_bergamot.encoder.text_encoder import EncoderSettings
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts

NAMES = sorted({normalize(n) for _, by in CONCEPTS.values() for ns in by.values() for n in ns})
WORDS = sorted({word for name in NAMES for word in name.split()})
UNUSED = ["herzklopfen", "klopf", "болезнь", "ость", "ปวด", "ξy", "ปวดหัว"]
"""Words of no name. Of ξ alone there is no piece."""
CAPITALS = ["Herz", "Klopf", "H", "K"]
SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64, "initializer_range": 0.5,
}  # fmt: skip


def letters(*, without: str = "ξ") -> list[str]:
    return sorted({c for word in [*WORDS, *UNUSED] for c in word} - set(without))


def write_unigram(path: Path, *, spare_rows: int = 5) -> Path:
    """Write an XLM-R whose <mask> is the last piece, and whose table has more rows than pieces.

    Before its padding is a piece that nothing uses.
    """
    words = [(f"▁{word}", -8.0) for word in WORDS]
    halves = [(word[len(word) // 2 :], -9.0) for word in WORDS if len(word) > 5]
    unused = [(f"▁{word}", -7.5 - n / 100) for n, word in enumerate(UNUSED)]
    unused += [(word, -8.5) for word in [*UNUSED, *CAPITALS[:2]]]
    single = [(letter, -12.0) for letter in [*letters(), *CAPITALS[2:]]]
    start = [("<s>", 0.0), ("▁aaa", -9.0), ("<pad>", 0.0)]
    end = [("</s>", 0.0), ("<unk>", 0.0)]
    pieces = dict([*start, *unused, *end, *words, *halves, ("▁", -5.0), *single, ("<mask>", 0.0)])
    row = {piece: number for number, piece in enumerate(pieces)}
    unigram = models.Unigram(list(pieces.items()), unk_id=row["<unk>"], byte_fallback=False)
    tokenizer = Tokenizer(unigram)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", row["</s>"])],
    )  # fmt: skip
    ids = {"pad_token_id": row["<pad>"], "bos_token_id": 0, "eos_token_id": row["</s>"]}
    config = XLMRobertaConfig(vocab_size=len(pieces) + spare_rows, **ids, **SIZES)
    return save(path, XLMRobertaModel, config, tokenizer, mask_token="<mask>", pad_token="<pad>")


def write_wordpiece(path: Path, *, spare_rows: int = 0) -> Path:
    """Write a BERT, its special tokens behind [unused…] ones, as published ones have them."""
    parts = [*letters(), *CAPITALS[2:], *(word[len(word) // 2 :] for word in WORDS)]
    pieces = ["[PAD]", *(f"[unused{n}]" for n in range(9)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += [*UNUSED, *CAPITALS, *WORDS, *parts, *(f"##{part}" for part in parts)]
    vocabulary = {piece: row for row, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 12), ("[CLS]", 11))
    config = BertConfig(vocab_size=len(vocabulary) + spare_rows, pad_token_id=0, **SIZES)
    return save(path, BertModel, config, tokenizer, mask_token="[MASK]", pad_token="[PAD]")


def save(path: Path, family: Any, config: Any, tokenizer: Tokenizer, **special: str) -> Path:
    torch.manual_seed(0)
    family(config).save_pretrained(path)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(path)
    EncoderSettings(pooling="mean", max_length=12).write(path)
    return path


WRITERS: dict[str, Callable[..., Path]] = {"unigram": write_unigram, "wordpiece": write_wordpiece}


@pytest.fixture(params=sorted(WRITERS))
def lm(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return WRITERS[request.param](tmp_path / "lm")


@pytest.fixture
def unigram(tmp_path: Path) -> Path:
    return write_unigram(tmp_path / "lm")


@pytest.fixture(scope="session")
def concepts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_concepts(tmp_path_factory.mktemp("kb") / "concepts")
