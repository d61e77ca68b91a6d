"""TextEncoder: names to unit vectors. The only place that tokenises and pools.

Training, index and linker share it, so that they can never disagree on case, length or pooling.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from spacy_bergamot.encoder.device import resolve_device, resolve_precision
from spacy_bergamot.encoder.lm_folder import (
    LM_KIND,
    LM_VERSION,
    check_folder,
    open_model,
    verify_files,
)
from spacy_bergamot.encoder.padded import embed_padded, length_batches
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.files import sha256
from spacy_bergamot.storage.manifest import write_manifest
from spacy_bergamot.text import normalize

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Encodes(Protocol):
    """What makes vectors of names: a `TextEncoder`."""

    def encode(self, names: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float32 (len(names), d)."""


class EncodesAliases(Encodes, Protocol):
    """What an alias index is built with: a `TextEncoder`."""

    @property
    def dim(self) -> int:
        """Width of the vectors."""

    @property
    def precision(self) -> str:
        """Of the weights."""

    def tokenize(self, names: Sequence[str]) -> list[list[int]]:
        """Return the token ids of every name; names with the same ones share a vector."""

    def encode_in_pieces(self, names: Sequence[str]) -> Iterator["Piece"]:
        """Yield the unit vectors of some names at a time, each name once."""


class CachingEncoder:
    """An encoder that remembers, for the length of one call."""

    def __init__(self, encoder: Encodes) -> None:
        self._encoder = encoder
        self._known: dict[str, np.ndarray] = {}

    def encode(self, names: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float32 (len(names), d)."""
        fresh = [name for name in dict.fromkeys(names) if name not in self._known]
        if fresh:
            self._known.update(zip(fresh, self._encoder.encode(fresh), strict=True))
        return np.stack([self._known[name] for name in names])


def open_tokenizer(folder: Path, max_length: int) -> "Tokenizer":
    """Open tokenizer.json without padding, truncating at `max_length` tokens.

    folder (Path): A language model.
    max_length (int): Tokens of a name, special ones included.
    """
    from tokenizers import Tokenizer

    path = Path(folder) / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf8"))
    except Exception as reason:  # tokenizers raises bare Exception on a malformed file
        raise BergamotError(Errors.B002, path=path, what="a tokenizer", reason=reason) from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)
    return tokenizer


class Piece(NamedTuple):
    """Vectors (float32 (len(rows), d)) of some of the names, by their rows."""

    rows: np.ndarray
    vectors: np.ndarray


class TextEncoder:
    """A language model that turns names into unit vectors.

    model (torch.nn.Module): A Hugging Face encoder in evaluation mode.
    tokenizer (tokenizers.Tokenizer): Its tokenizer, without padding, truncating.
    settings (EncoderSettings): Pooling, length and case.
    device (str): torch device of the model.
    precision (str): "fp32", or "bf16" / "fp16" for half-precision weights.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: "Tokenizer",
        settings: EncoderSettings,
        *,
        device: str = "cpu",
        precision: str = "fp32",
    ) -> None:
        from spacy_bergamot.encoder.packed import embed_packed, is_packable

        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        self.device = device
        self.precision = precision
        self._embed = embed_packed if is_packable(model) else embed_padded

    @classmethod
    def open(
        cls,
        folder: Path | str,
        *,
        device: str = "cpu",
        precision: str = "fp32",
        verify: bool = True,
    ) -> "TextEncoder":
        """Open a Hugging Face folder. No network, ever.

        device, precision (str): See `resolve_device` and `resolve_precision`.
        verify (bool): Compare its files with its manifest, where there is one.
        RAISES (BergamotError): If a file is missing, unreadable or changed, if it does not say how
            to pool (see `EncoderSettings.read`), or if the device is absent.
        """
        import torch

        from spacy_bergamot.encoder.ordered import keep_ordered
        from spacy_bergamot.encoder.packed import is_packable

        folder, device = Path(folder), resolve_device(device)
        precision = resolve_precision(precision, device)
        check_folder(folder)
        if verify:
            verify_files(folder)
        settings = EncoderSettings.read(folder)
        tokenizer = open_tokenizer(folder, settings.max_length)
        model = open_model(folder, use_safetensors=True)
        dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
        model = model.to(device=device, dtype=dtype).eval().requires_grad_(False)
        if is_packable(model):
            keep_ordered(model)
        return cls(model, tokenizer, settings, device=device, precision=precision)

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return int(self.model.config.hidden_size)

    def tokenize(self, names: Sequence[str]) -> list[list[int]]:
        """Return the token ids of every name, special tokens included, in input order.

        names (Sequence[str]): As they are written.
        """
        if self.settings.lowercase:
            names = [normalize(name) for name in names]
        if self.settings.prefix:
            names = [self.settings.prefix + name for name in names]
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(list(names))]

    def encode(
        self, names: Sequence[str], *, batch_tokens: int = 4096, progress: bool = False
    ) -> np.ndarray:
        """Return unit vectors, float32 (len(names), dim), in input order.

        Names are encoded in order of length, so that little padding is computed.

        batch_tokens (int): Token slots per forward pass.
        progress (bool): Show a progress bar on standard error.
        """

        vectors = np.empty((len(names), self.dim), dtype=np.float32)
        pieces = self.encode_in_pieces(names, batch_tokens=batch_tokens)
        for piece in _shown(pieces, len(names)) if progress else pieces:
            vectors[piece.rows] = piece.vectors
        return vectors

    def encode_in_pieces(
        self, names: Sequence[str], *, batch_tokens: int = 4096
    ) -> Iterator["Piece"]:
        """Yield the unit vectors of every forward pass as it ends, in order of length.

        names (Sequence[str]): As they are written.
        batch_tokens (int): Token slots of one forward pass.
        """
        import torch

        tokens = self.tokenize(names)
        for rows in length_batches([len(ids) for ids in tokens], batch_tokens):
            with torch.inference_mode():
                yield Piece(rows, self._encode_batch([tokens[row] for row in rows]))

    def _encode_batch(self, tokens: list[list[int]]) -> np.ndarray:
        from torch.nn.functional import normalize

        embed = self._embed if all(tokens) else embed_padded
        return normalize(embed(self.model, tokens, self.settings.pooling), dim=-1).cpu().numpy()


def fingerprint(folder: Path | str) -> str:
    """Return a hash of everything in an LM folder that decides its vectors (hex, 64 digits)."""
    folder = Path(folder)
    check_folder(folder)
    settings = asdict(EncoderSettings.read(folder))
    if not settings["prefix"]:  # so that models without one keep the hash that they had before
        del settings["prefix"]
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    files = [folder / "config.json", folder / "tokenizer.json"]
    for path in files + sorted(folder.glob("model*.safetensors")):
        digest.update(f"{path.name}:{sha256(path)}\n".encode())
    return digest.hexdigest()


def write_lm_manifest(folder: Path, **facts: Any) -> str:
    """Write the manifest of a language model that is whole, and return its fingerprint.

    folder (Path): Of the language model.
    facts (Any): More for the manifest.
    """
    mark = fingerprint(folder)
    write_manifest(folder, kind=LM_KIND, version=LM_VERSION, fingerprint=mark, **facts)
    return mark


def _shown(pieces: Iterator[Piece], total: int) -> Iterator[Piece]:
    """Yield the pieces, and show how far they are."""
    from tqdm import tqdm

    with tqdm(total=total, unit=" names", desc="Encoding", smoothing=0.1) as bar:
        for piece in pieces:
            yield piece
            bar.update(len(piece.rows))
