"""Token ids of every training name, made once, memory-mapped: 2 or 4 bytes a token, 8 a name."""

import hashlib
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from spacy_bergamot.encoder.text_encoder import EncoderSettings, open_tokenizer
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.storage.files import atomic_folder, sha256
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from spacy_bergamot.text import normalize
from training.bergamot.name_tokens import NameTokenizer

KIND = "token-store"
VERSION = 1
_CHUNK = 1 << 18

logger = logging.getLogger(__name__)


class TokenStore:
    """Token ids by name id.

    path (Path): Its folder.
    tokens (uint16 or uint32 (t,)): Ids of all names on end.
    indptr (int64 (n + 1,)): Where each name starts.
    """

    def __init__(self, path: Path, tokens: np.ndarray, indptr: np.ndarray) -> None:
        self.path = path
        self.tokens = tokens
        self.indptr = indptr

    def __reduce__(self) -> tuple:
        """Another process maps the same files; arrays that were pickled would be copies."""
        return TokenStore.open, (self.path,)

    @classmethod
    def open(cls, path: Path) -> "TokenStore":
        """Map the tokens that `open_or_build` has checked or made."""
        read_manifest(path, kind=KIND, version=VERSION, checksums=False)
        tokens = np.load(path / "tokens.npy", mmap_mode="r")
        return cls(path, tokens, np.load(path / "indptr.npy", mmap_mode="r"))

    @classmethod
    def open_or_build(
        cls, path: Path, names: pa.Array, *, lm: Path, settings: EncoderSettings, names_id: str
    ) -> "TokenStore":
        """Open the store at `path` if it was made from these names and this tokenizer; else build.

        One that is no longer as it was made is built again.

        names_id (str): What identifies the names: the training set's checksum.
        """
        made_from = {"names": names_id, "tokenizer": _tokenizer_id(lm, settings)}
        try:
            fields = {"made_from": dict}
            manifest = read_manifest(path, kind=KIND, version=VERSION, fields=fields)
            fresh = manifest["made_from"] == made_from
        except BergamotError as reason:
            if path.exists():
                logger.warning("Tokenising again: %s", reason)
            fresh = False
        if not fresh:
            cls._build(path, names, lm=lm, settings=settings, made_from=made_from)
        return cls.open(path)

    @staticmethod
    def _build(
        path: Path, names: pa.Array, *, lm: Path, settings: EncoderSettings, made_from: Any
    ) -> None:
        tokenizer = open_tokenizer(lm, settings.max_length)
        small = tokenizer.get_vocab_size() <= 1 << 16
        fast = NameTokenizer(tokenizer)
        lengths = np.zeros(len(names) + 1, dtype=np.int64)
        with atomic_folder(path) as folder:
            parts = [np.empty(0, dtype=np.uint16 if small else np.uint32)]
            for start in tqdm(range(0, len(names), _CHUNK), desc="Tokenising", unit=" chunks"):
                chunk = names[start : start + _CHUNK]
                if settings.lowercase:
                    chunk = pa.array(map(normalize, chunk.to_pylist()), pa.large_string())
                tokens, counts = fast.encode(chunk)
                parts.append(tokens.astype(parts[0].dtype))
                lengths[start + 1 : start + 1 + len(counts)] = counts
            np.save(folder / "tokens.npy", np.concatenate(parts))
            np.save(folder / "indptr.npy", np.cumsum(lengths))
            write_manifest(folder, kind=KIND, version=VERSION, made_from=made_from)

    def lengths(self, names: np.ndarray) -> np.ndarray:
        """Return the token counts of `names` (int (n,))."""
        return np.asarray(self.indptr[names + 1]) - np.asarray(self.indptr[names])

    def padded(self, names: np.ndarray, *, pad: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ids and mask, int64 (len(names), longest), padded on the right."""
        lengths = self.lengths(names)
        slots = np.arange(lengths.max(initial=1))
        mask = slots < lengths[:, None]
        positions = np.asarray(self.indptr[names])[:, None] + slots
        ids = np.full(mask.shape, pad, dtype=np.int64)
        ids[mask] = self.tokens[positions[mask]]
        return ids, mask.astype(np.int64)


def _tokenizer_id(lm: Path, settings: EncoderSettings) -> str:
    text = f"{sha256(lm / 'tokenizer.json')} {settings}"
    return hashlib.sha256(text.encode()).hexdigest()
