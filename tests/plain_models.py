"""Tiny models with random weights in plain Hugging Face folders, as others publish theirs."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

NAMES = (
    "Hypertension", "high blood pressure", "hipertensión", "Bluthochdruck", "diabetes mellitus",
    "myocardial infarction", "heart attack", "Herzinfarkt", "common cold", "fever", "heart",
    "acetylsalicylic acid", "insulin", "magnetic resonance imaging", "高血圧", "гипертония",
)  # fmt: skip
SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "initializer_range": 0.3, "max_position_embeddings": 66,
}  # fmt: skip


def write_bert(path: Path, names: Iterable[str] = NAMES) -> Path:
    """Write a BERT as SapBERT's are: a .bin without pooler, vocab.txt, no tokenizer.json."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    letters = sorted({letter for name in names for letter in name.lower() if letter.isalnum()})
    words = sorted({word for name in names for word in name.lower().split() if word.isascii()})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters), *words]
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(pieces), **SIZES)
    BertForMaskedLM(config).save_pretrained(path, safe_serialization=False)
    (path / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf8")
    options = {"do_lower_case": True, "tokenizer_class": "BertTokenizer"}
    (path / "tokenizer_config.json").write_text(json.dumps(options), encoding="utf8")
    return path


def write_xlmr(path: Path, names: Iterable[str] = NAMES) -> Path:
    """Write an XLM-R: a Unigram tokenizer, positions that count from behind the padding's."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([name.lower() for name in names], trainer)
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=ends
    )
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        **SIZES,
    )
    XLMRobertaModel(config).save_pretrained(path)
    XLMRobertaTokenizerFast(tokenizer_object=tokenizer).save_pretrained(path)
    return path


def add_sentence_transformers(
    path: Path,
    pooling: dict[str, Any],
    *,
    modules: Sequence[str] = ("Transformer", "Pooling", "Normalize"),
    max_length: int | None = 40,
) -> Path:
    """Add the files that sentence-transformers writes beside a model."""
    places = {"Transformer": "", "Pooling": "1_Pooling"}
    entries = [
        {
            "idx": number,
            "name": str(number),
            "path": places.get(name, f"{number}_{name}"),
            "type": f"sentence_transformers.models.{name}",
        }
        for number, name in enumerate(modules)
    ]
    limits = {"max_seq_length": max_length, "do_lower_case": False}
    (path / "1_Pooling").mkdir()
    for name, content in {
        "modules.json": entries,
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": limits,
    }.items():
        (path / name).write_text(json.dumps(content), encoding="utf8")
    return path


def switches(*on: str) -> dict[str, Any]:
    """Return sentence-transformers' pooling settings as before version 5.3: one switch each."""
    kinds = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "lasttoken")
    return {
        "word_embedding_dimension": 32,
        **{f"pooling_mode_{kind}": kind in on for kind in kinds},
        "include_prompt": True,
    }


def plain_vectors(path: Path, names: Sequence[str], pooling: str) -> np.ndarray:
    """Return unit vectors of names in normal form by transformers alone, one at a time."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(path).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    vectors = []
    for name in names:
        with torch.no_grad():
            ids = tokenizer(name, return_tensors="pt")["input_ids"]
            hidden = model(input_ids=ids).last_hidden_state[0]
        vectors.append(hidden[0] if pooling == "cls" else hidden.mean(0))
    return torch.nn.functional.normalize(torch.stack(vectors), dim=-1).numpy()
