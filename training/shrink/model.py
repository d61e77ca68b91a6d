"""The weights: fewer rows of word embeddings, and their type on disk."""

from pathlib import Path
from typing import Any

import numpy as np

from training.errors import BergamotError, Errors

DTYPES = ("fp32", "bf16", "fp16", "fp8")


def config_ids(config: Any) -> dict[str, int]:
    """Return the ids of tokens that a model's config names, such as pad_token_id."""
    return {
        key: value
        for key, value in config.to_dict().items()
        if key.endswith("_token_id") and isinstance(value, int)
    }


def fixed_rows(model: Any) -> int:
    """Return how many rows must keep their places: RoBERTa counts positions from the padding's."""
    padding = getattr(getattr(model, "embeddings", None), "padding_idx", None)
    return 0 if padding is None else int(padding) + 1


def gather_rows(model: Any, kept: np.ndarray) -> None:
    """Keep some rows of a model's word embeddings, int64 (m,) ascending, in place."""
    import torch

    new = {int(row): number for number, row in enumerate(kept)}
    old = model.get_input_embeddings()
    padding = None if old.padding_idx is None else new.get(old.padding_idx)
    table = torch.nn.Embedding(len(kept), old.embedding_dim, padding_idx=padding)
    table.weight.data = old.weight.data[torch.from_numpy(kept)]
    model.set_input_embeddings(table)
    model.config.vocab_size = len(kept)
    for key, row in config_ids(model.config).items():
        setattr(model.config, key, new.get(row))


def save_model(model: Any, folder: Path, dtype: str) -> None:
    """Write config.json and model.safetensors.

    dtype (str): Of the weights: "fp32", "bf16", "fp16", or "fp8", which is float8 (E4M3) for every
        matrix and float16 for biases and norms. transformers leaves float8 as it is when it opens a
        model; until the model is made float it cannot run.
    RAISES (BergamotError): T236 for weights that the dtype cannot hold.
    """
    import torch

    types = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    target = types.get(dtype, torch.float16)
    for name, weights in model.named_parameters():
        kind = torch.float8_e4m3fn if dtype == "fp8" and weights.dim() > 1 else target
        largest, found = torch.finfo(kind).max, float(weights.detach().abs().max())
        if not found <= largest:
            raise BergamotError(Errors.T236, name=name, found=found, largest=largest, dtype=dtype)
        weights.data = weights.data.to(kind)
    model.save_pretrained(folder, safe_serialization=True)
    model.config.torch_dtype = target
    model.config.save_pretrained(folder)
