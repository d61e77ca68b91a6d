"""An invented language model in the layout of `spacy_bergamot.encoder.packed_e5`."""

import struct
from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 4, 64, 40
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
WORDS = ["▁heart", "▁attack", "▁asthma", "▁", "t", "h", "e", "a", "r", "k", "сердце", "心", "臓"]
PIECES = [*SPECIAL, *WORDS, "<mask>"]
UNUSED = 3
CHARACTERS = {"\t": " ", "\x07": "", "Ａ": "A", "ﬁ": "fi", "\u200b": " "}

LAYER_SHAPES = {
    "q": (HIDDEN, HIDDEN),
    "k": (HIDDEN, HIDDEN),
    "v": (HIDDEN, HIDDEN),
    "ao": (HIDDEN, HIDDEN),
    "fi": (INNER, HIDDEN),
    "fo": (HIDDEN, INNER),
    "aln": (HIDDEN,),
    "oln": (HIDDEN,),
}


def write_packed(path: Path, *, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file; return every tensor as it must come out, in its shape."""
    rng = np.random.default_rng(seed)
    entries, expected = [], {}
    for name, shape in _shapes().items():
        if len(shape) > 1 and name not in ("emb.pos", "emb.type"):
            data, values = _four_bits(rng, int(np.prod(shape)))
            kind = 1
        else:
            values = rng.normal(1.0 if name.endswith("ln.w") else 0.0, 0.1, shape)
            values = values.astype("<f4").ravel()
            data, kind = values.tobytes(), 0
        entries.append((name, kind, values.size, data))
        expected[name] = values.reshape(shape)
    path.write_bytes(_header() + _tokenizer() + _directory(entries))
    return expected


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (len(PIECES) + UNUSED, HIDDEN),
        "emb.pos": (POSITIONS, HIDDEN),
        "emb.type": (2, HIDDEN),
        "emb.ln.w": (HIDDEN,),
        "emb.ln.b": (HIDDEN,),
    }
    for layer in range(LAYERS):
        for part, shape in LAYER_SHAPES.items():
            shapes[f"l{layer}.{part}.w"] = shape
            shapes[f"l{layer}.{part}.b"] = shape[:1]
    return shapes


def _four_bits(rng: np.random.Generator, weights: int) -> tuple[bytes, np.ndarray]:
    """Pack random weights one by one, as the layout is described."""
    data, values = b"", []
    for _ in range(weights // 32):
        scale = np.float16(rng.uniform(0.01, 0.05))
        bits = rng.integers(0, 16, 32)
        packed = bytes(int(bits[j]) | int(bits[j + 16]) << 4 for j in range(16))
        data += scale.tobytes() + packed
        values += [float(scale) * (int(bit) - 8) for bit in bits]
    return data, np.array(values, dtype=np.float32)


def _header() -> bytes:
    sizes = (HIDDEN, LAYERS, HEADS, INNER, len(PIECES) + UNUSED, POSITIONS, 2)
    return b"E5S1" + struct.pack("<I7ifi", 1, *sizes, 1e-12, 32)


def _tokenizer() -> bytes:
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)])
    scores = [
        0.0 if piece.startswith("<") else -float(len(PIECES) - len(piece)) for piece in PIECES
    ]
    blob = b"".join(texts)
    data = struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob))
    data += ends.astype("<u4").tobytes() + np.array(scores, "<f4").tobytes() + blob
    folded = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(one), len(to), *map(ord, to))
        for one, to in CHARACTERS.items()
    )
    return data + struct.pack("<iI", len(CHARACTERS), len(folded)) + folded


def _directory(entries: list[tuple[str, int, int, bytes]]) -> bytes:
    size = 4 + sum(2 + len(name) + 1 + 4 + 16 for name, *_ in entries)
    offset = len(_header()) + len(_tokenizer()) + size
    head, body = struct.pack("<i", len(entries)), b""
    for name, kind, weights, data in entries:
        place = struct.pack("<BIQQ", kind, weights, offset + len(body), len(data))
        head += struct.pack("<H", len(name)) + name.encode() + place
        body += data
    return head + body
