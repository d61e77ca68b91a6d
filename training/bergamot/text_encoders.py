"""Base language models to train from: a folder or hub name, an installed package, or from scratch.

Each factory returns a function that puts a Hugging Face folder at a given path, so that the
trainer, whatever it starts from, opens a folder.
"""

import importlib.util
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from spacy_bergamot.encoder.lm_folder import find_lm, place_lm
from spacy_bergamot.encoder.settings import EncoderSettings
from training.errors import BergamotError, Errors
from training.registry import registry

BaseModel = Callable[[Path, pa.Array, int], EncoderSettings]
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

logger = logging.getLogger(__name__)


@registry.text_encoders("huggingface.v1")
def make_huggingface(
    name: str,
    pooling: Literal["cls", "mean"] | None = None,
    max_length: int | None = None,
    lowercase: bool | None = None,
) -> BaseModel:
    """Start from a local Hugging Face folder, or from a model on the hub by name.

    pooling (str | None): "cls" or "mean"; None for what the folder says, which is an error where
        it says nothing.
    max_length (int | None): Tokens kept of a name; None for what the folder says, else 25.
    lowercase (bool | None): Fold names to their normal form first; None for what the folder says,
        else True.
    RAISES (BergamotError): On preparing, as `find_lm` and `place_lm`.
    """

    def prepare(folder: Path, names: pa.Array, seed: int) -> EncoderSettings:
        source = find_lm(name)
        logger.info("Loading the base language model %s", name)
        return place_lm(
            source, folder, anew=True, pooling=pooling, max_length=max_length, lowercase=lowercase
        )

    return prepare


@registry.text_encoders("installed_package.v1")
def make_installed_package(
    package: str,
    folder: str = "model",
    pooling: Literal["cls", "mean"] | None = None,
    max_length: int | None = None,
    lowercase: bool | None = None,
) -> BaseModel:
    """Start from the Hugging Face folder inside an installed Python package.

    folder (str): Its place in the package.
    pooling, max_length, lowercase: As in `make_huggingface`.
    RAISES (BergamotError): On preparing: B109 without the package, else as `place_lm`.
    """

    def prepare(target: Path, names: pa.Array, seed: int) -> EncoderSettings:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            facts = {"step": "The base language model", "packages": package.replace("_", "-")}
            raise BergamotError(Errors.B109, **facts, reason=f"No module named '{package}'")
        source = Path(spec.origin).parent / folder
        return place_lm(
            source, target, anew=True, pooling=pooling, max_length=max_length, lowercase=lowercase
        )

    return prepare


@registry.text_encoders("scratch.v1")
def make_scratch(
    tokenizer: Literal["wordpiece", "unigram"] = "wordpiece",
    vocab_size: int = 4000,
    layers: int = 3,
    hidden: int = 128,
    heads: int = 4,
    intermediate: int = 512,
    dropout: float = 0.1,
    pooling: str = "mean",
    max_length: int = 25,
) -> BaseModel:
    """Train a tokenizer on the training names and start from a small BERT with random weights."""
    settings = EncoderSettings(pooling, max_length, lowercase=True)

    def prepare(folder: Path, names: pa.Array, seed: int) -> EncoderSettings:
        import torch
        from transformers import BertConfig, BertModel

        trained = train_tokenizer(_texts(names), kind=tokenizer, vocab_size=vocab_size)
        trained.model_max_length = positions = max(64, max_length)
        torch.manual_seed(seed)
        config = BertConfig(
            vocab_size=trained.vocab_size,
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=intermediate,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            max_position_embeddings=positions,
            type_vocab_size=1,
            pad_token_id=trained.pad_token_id,
        )
        BertModel(config).save_pretrained(folder)
        trained.save_pretrained(folder)
        settings.write(folder)
        return settings

    return prepare


def train_tokenizer(texts: list[list[str]], *, kind: str, vocab_size: int) -> Any:
    """Train a WordPiece or Unigram tokenizer that keeps accents, as a transformers tokenizer.

    WordPiece gives the same vocabulary on every run; Unigram's may differ in ties.

    texts (list[list[str]]): Names in normal form, in pieces.
    """
    from tokenizers import normalizers, processors
    from transformers import PreTrainedTokenizerFast

    normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=True
    )
    train = _train_wordpiece if kind == "wordpiece" else _train_unigram
    tokenizer = train(texts, vocab_size, normalizer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ends
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def _train_wordpiece(texts: list[list[str]], vocab_size: int, normalizer: Any) -> Any:
    """Train WordPiece reproducibly.

    The trainer numbers inner characters in the order of a hash map, and breaks ties by number.
    Given as special tokens they are numbered in order; the vocabulary then goes into a tokenizer
    that does not know them as special.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    characters = sorted({c for part in texts for text in part for c in text if not c.isspace()})
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.normalizer = normalizer
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        special_tokens=[*SPECIAL_TOKENS, *(f"##{character}" for character in characters)],
        show_progress=False,
    )
    trained.train_from_iterator(texts, trainer)
    tokenizer = Tokenizer(models.WordPiece(trained.get_vocab(), unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _train_unigram(texts: list[list[str]], vocab_size: int, normalizer: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size,
        special_tokens=SPECIAL_TOKENS,
        unk_token="[UNK]",
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _texts(names: pa.Array) -> list[list[str]]:
    return [names[start : start + 10_000].to_pylist() for start in range(0, len(names), 10_000)]
