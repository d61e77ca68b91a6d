"""Encoding aliases: our encoder against SapBERT's loop, in turn on the same names.

    python -m benchmarks.encode LM NAMES.txt [--names 4000] [--quick]

SapBERT's loop takes names in the order given, in batches of 2,048, pads them to 25 tokens, and
tokenises with the slow-start call of transformers. NAMES has a name a line, or CUI||name lines.
The last line is JSON: ratio_fp32 and ratio_bf16 (names per CPU-second by the loop's),
worst_cosine_drift and mean_cosine_drift of bf16 weights against fp32, recall_drift (share of
names whose nearest other name is another one under bf16).
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from spacy_bergamot.encoder.padded import pool
from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.text import normalize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lm", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--names", type=int, default=6000)
    parser.add_argument("--quick", action="store_true", help="1,000 names")
    arguments = parser.parse_args()
    lines = arguments.file.read_text(encoding="utf8").split("\n")
    names = sorted({normalize(line.rpartition("||")[2]) for line in lines} - {""})
    count = 1000 if arguments.quick else arguments.names
    rng = np.random.default_rng(0)
    names = [names[i] for i in rng.permutation(len(names))[:count]]
    fp32 = TextEncoder.open(arguments.lm)
    bf16 = TextEncoder.open(arguments.lm, precision="bf16")
    sides: dict[str, Callable[[list[str]], np.ndarray]] = {
        "SapBERT's loop": lambda batch: plain(fp32, arguments.lm, batch),
        "fp32": fp32.encode,
        "bf16": bf16.encode,
    }
    for encode in sides.values():
        encode(names[:64])
    cpu = dict.fromkeys(sides, 0.0)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in sides}
    for start in range(0, len(names), 2000):
        for name, encode in sides.items():
            before = time.process_time()
            parts[name].append(encode(names[start : start + 2000]))
            cpu[name] += time.process_time() - before
    vectors = {name: np.concatenate(part) for name, part in parts.items()}
    if np.abs(vectors["fp32"] - vectors["SapBERT's loop"]).max() > 1e-3:
        raise SystemExit("The sides disagree")
    base = cpu["SapBERT's loop"]
    print(f"{'':16}{'names per CPU-second':>22}{'ratio':>8}")
    for name, seconds in cpu.items():
        print(f"{name:16}{len(names) / seconds:>22.0f}{base / seconds:>8.2f}")
    cosines = (vectors["fp32"] * vectors["bf16"]).sum(1)
    nearest = {name: neighbours(vectors[name]) for name in ("fp32", "bf16")}
    result = {
        "ratio_fp32": round(base / cpu["fp32"], 2),
        "ratio_bf16": round(base / cpu["bf16"], 2),
        "mean_cosine_drift": round(float(1 - cosines.mean()), 6),
        "worst_cosine_drift": round(float(1 - cosines.min()), 6),
        "recall_drift": round(float((nearest["fp32"] != nearest["bf16"]).mean()), 4),
    }
    print(json.dumps(result))


def plain(encoder: TextEncoder, lm: Path, names: list[str]) -> np.ndarray:
    """Encode as SapBERT's evaluation: in the order given, padded to the full length."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(lm, local_files_only=True, trust_remote_code=False)
    results = []
    for start in range(0, len(names), 2048):
        inputs = tokenizer(
            names[start : start + 2048],
            padding="max_length",
            max_length=encoder.settings.max_length,
            truncation=True,
            return_tensors="pt",
        )
        with torch.no_grad():
            hidden = encoder.model(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
            ).last_hidden_state
        pooled = pool(hidden, inputs["attention_mask"], encoder.settings.pooling)
        results.append(torch.nn.functional.normalize(pooled, dim=-1).numpy())
    return np.concatenate(results)


def neighbours(vectors: np.ndarray) -> np.ndarray:
    """Return the nearest other row of every row."""
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -2)
    return scores.argmax(1)


if __name__ == "__main__":
    main()
