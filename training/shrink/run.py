"""Shrinking a language model: a folder like the first, whole or not at all."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.encoder.lm_folder import check_folder, open_model
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import open_tokenizer, write_lm_manifest
from spacy_bergamot.storage.files import atomic_folder
from training.errors import check_choice
from training.shrink.model import DTYPES, config_ids, fixed_rows, gather_rows, save_model
from training.shrink.tokenizer_file import TokenizerFile, write_tokenizer
from training.shrink.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


def shrink(
    lm: Path, output: Path, *, dtype: str = "fp16", vocabulary: Vocabulary | None = None
) -> dict[str, Any]:
    """Write a smaller copy of a language model, which opens wherever the first does.

    lm (Path): A Hugging Face folder. output (Path): The new one.
    dtype (str): Of the weights on disk: "fp32", "bf16", "fp16" or "fp8", see `save_model`.
    vocabulary (Vocabulary | None): Which pieces stay; None keeps all.
    RETURNS (dict): dtype, vocabulary; pieces and bytes, and both before.
    RAISES (BergamotError): T232 for a tokenizer that cannot lose pieces, T233 for one that does
        not fit the model, T234 for too small a size, T236 for weights beyond the dtype, B014 for
        an unknown dtype; see `Vocabulary`.
    """
    check_choice("precision", dtype, DTYPES)
    check_folder(lm)
    vocabulary = vocabulary or Vocabulary()
    file, model = TokenizerFile.read(lm), open_model(lm, use_safetensors=True).float()
    file.check_rows(model.get_input_embeddings().num_embeddings)
    settings = EncoderSettings.read(lm)
    kept = None
    if vocabulary.kind != "keep":
        kept = cut(model, file, settings, vocabulary)
    facts = {
        "dtype": dtype,
        "vocabulary": vocabulary.kind,
        "pieces": len(file.pieces) if kept is None else len(kept),
        "pieces_before": len(file.pieces),
        "bytes_before": _size(lm),
    }
    with atomic_folder(output) as folder:
        save_model(model, folder, dtype)
        write_tokenizer(file, folder, kept=kept)
        settings.write(folder)
        facts["bytes"] = _size(folder)
        write_lm_manifest(folder, shrunk=facts)
    return facts


def cut(
    model: Any, file: TokenizerFile, settings: EncoderSettings, vocabulary: Vocabulary
) -> np.ndarray:
    """Take rows out of a model's word embeddings; return the ids that stay, int64 (m,)."""
    file.note_special({*config_ids(model.config).values(), *range(fixed_rows(model))})
    tokenizer = open_tokenizer(file.path.parent, settings.max_length)
    kept = vocabulary.kept(file, tokenizer, lowercase=settings.lowercase)
    logger.info("Keeping %d of %d pieces", len(kept), len(file.pieces))
    gather_rows(model, kept)
    return kept


def _size(folder: Path) -> int:
    """Return the bytes of a language model's files, other files aside."""
    names = ("*.json", "model*.safetensors")
    return sum(file.stat().st_size for name in names for file in folder.glob(name))
