"""What makes Deep Graph Infomax learn: one setting at a time, on frozen text embeddings.

    python -m benchmarks.dgi corpus/train LM [--steps 400] [--quick]

The graph encoder and the discriminator train on the objective alone; names are encoded once. The
loss is the mean over both views and the last 50 steps: 1.386 (2 ln 2) is chance.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spacy_bergamot.encoder.padded import pad_tokens, pool
from spacy_bergamot.encoder.text_encoder import TextEncoder
from training.bergamot.batches import BatchMaker
from training.bergamot.draws.pairs import PairBatches
from training.bergamot.graph_encoders import make_gatv2
from training.bergamot.model import BergamotModel
from training.bergamot.objectives.dgi import make_dgi
from training.bergamot.token_store import TokenStore
from training.preprocess.training_set import TrainingSet

DEFAULTS = {
    "rate": 5e-4,
    "corruption": "edges",
    "readout": "sigmoid_mean",
    "neighbours": 3,
    "size": 64,
    "self_loops": True,
    "layers": 3,
    "normalise": False,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "default (rate 5e-4)": {},
    "rate 2e-5": {"rate": 2e-5},
    "rate 1e-4": {"rate": 1e-4},
    "rate 2e-3": {"rate": 2e-3},
    "readout mean": {"readout": "mean"},
    "corruption centres": {"corruption": "centres"},
    "10 neighbours": {"neighbours": 10},
    "256 pairs": {"size": 256},
    "1 layer": {"layers": 1},
    "1 layer, no self-loops": {"layers": 1, "self_loops": False},
    "features of unit length": {"normalise": True},
}


class Frozen(torch.nn.Module):
    """Stands for the language model: it only says how wide its vectors are."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.config = argparse.Namespace(hidden_size=dim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("training_set", type=Path)
    parser.add_argument("lm", type=Path)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--quick", action="store_true", help="60 steps of three settings")
    arguments = parser.parse_args()
    steps = 60 if arguments.quick else arguments.steps
    variants = dict(list(VARIANTS.items())[:3]) if arguments.quick else VARIANTS
    data = TrainingSet.open(arguments.training_set)
    results = {}
    vectors = Vectors(data, arguments.lm)
    print(f"{'setting':28}{'loss, last 50 steps':>20}{'chance':>9}", flush=True)
    for name, change in variants.items():
        loss = run(data, vectors, {**DEFAULTS, **change}, steps)
        results[name] = round(loss, 4)
        print(f"{name:28}{loss:>20.3f}{2 * math.log(2):>9.3f}", flush=True)
    print(json.dumps(results))


class Vectors:
    """Text embeddings by name, before normalisation, made when first asked for."""

    def __init__(self, data: TrainingSet, lm: Path) -> None:
        self.names = data.names
        self.encoder = TextEncoder.open(lm, precision="bf16")
        self.known: dict[int, np.ndarray] = {}

    def __call__(self, names: np.ndarray) -> np.ndarray:
        missing = [int(n) for n in np.unique(names) if int(n) not in self.known]
        if missing:
            tokens = self.encoder.tokenize([self.names[n].as_py() for n in missing])
            for start in range(0, len(missing), 256):
                ids, mask = pad_tokens(tokens[start : start + 256], 0)
                with torch.inference_mode():
                    hidden = self.encoder.model(ids, mask).last_hidden_state.float()
                made = pool(hidden, mask, self.encoder.settings.pooling).numpy()
                self.known |= dict(zip(missing[start : start + 256], made, strict=True))
        return np.stack([self.known[int(n)] for n in names.ravel()])


def batches(data: TrainingSet, setting: dict[str, Any]) -> BatchMaker:
    sizes = PairBatches(size=setting["size"], neighbours=setting["neighbours"])
    empty = TokenStore(Path(), np.zeros(1, np.uint16), np.zeros(len(data.names) + 1, np.int64))
    return BatchMaker(data, empty, sizes, seed=0, graph=True, pad=0)


def run(data: TrainingSet, vectors: Vectors, setting: dict[str, Any], steps: int) -> float:
    torch.manual_seed(0)
    dim = vectors.encoder.dim
    encoder = make_gatv2(
        layers=setting["layers"], heads=2, dropout=0.1, self_loops=setting["self_loops"]
    )(dim, len(data.relation_labels))
    objective = make_dgi(weight=1.0, corruption=setting["corruption"], readout=setting["readout"])(
        dim, len(data.relation_labels)
    )
    model = BergamotModel(Frozen(dim), encoder, {"dgi": objective}, pooling="mean")
    optimizer = torch.optim.AdamW(model.parameters(), lr=setting["rate"], weight_decay=0.01)
    maker, losses = batches(data, setting), []
    for step in range(steps):
        names = maker.draws.draw(step).names
        batch = maker[step]
        table = torch.from_numpy(vectors(names))
        if setting["normalise"]:
            table = torch.nn.functional.normalize(table, dim=-1)
        batch.rows = torch.arange(names.size).reshape(names.shape)
        loss = model(table, batch)["dgi"]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses[-50:]))


if __name__ == "__main__":
    main()
