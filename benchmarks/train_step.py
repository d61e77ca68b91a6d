"""Our training step against a plain step of the same model on the same batches, in turn.

    python -m benchmarks.train_step corpus/train [--layers 6 --hidden 384] [--gpu-id 0] [--quick]

The plain step is what the authors' code does: every node's name of both views is padded to 25
tokens and encoded, equal or not; pairs are mined through triplet tensors and the loss computed by
pytorch-metric-learning; PyG's graph encoder runs once a view; AdamW is not fused. Dropout is off,
so that both sides must give the same losses, which is checked at every step in fp32.

The last line is JSON: cpu_ratio_fp32 and cpu_ratio_bf16 (plain fp32 CPU-seconds by ours; on a GPU
pairs_per_s_ratio, both sides in bf16), useful_share (real, distinct tokens of those encoded),
peak_mib and plain_peak_mib (above what the process held before), peak_fraction (share of a
measured matrix product's rate).
"""

import argparse
import json
import multiprocessing
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor

from benchmarks.step_cost import MemoryWatch, Side, measure, product_rate
from training.bergamot.batches import Batch, BatchMaker
from training.bergamot.draws.pairs import PairBatches
from training.bergamot.graph_encoders import make_gatv2
from training.bergamot.model import BergamotModel, corrupt
from training.bergamot.objectives import VIEWS
from training.bergamot.objectives.dgi import make_dgi
from training.bergamot.objectives.intermodal import make_intermodal
from training.bergamot.objectives.node import make_node
from training.bergamot.objectives.text import make_text
from training.bergamot.processes import Processes
from training.bergamot.step import GradientStep, seed_everything
from training.bergamot.text_encoders import make_scratch
from training.bergamot.token_store import TokenStore
from training.preprocess.training_set import TrainingSet

LENGTH = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("training_set", type=Path)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--chunk-tokens", type=int, default=4096)
    parser.add_argument("--gpu-id", type=int, default=-1)
    parser.add_argument("--quick", action="store_true", help="two steps a side")
    arguments = parser.parse_args()
    device = torch.device(f"cuda:{arguments.gpu_id}" if arguments.gpu_id >= 0 else "cpu")
    steps = 2 if arguments.quick else arguments.steps
    data = TrainingSet.open(arguments.training_set)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        settings = make_scratch(
            vocab_size=30_000,
            layers=arguments.layers,
            hidden=arguments.hidden,
            heads=arguments.hidden // 32,
            intermediate=4 * arguments.hidden,
            dropout=0.0,
        )(base, data.names, 0)
        tokens = TokenStore.open_or_build(
            Path(folder) / "tokens", data.names, lm=base, settings=settings, names_id="benchmark"
        )
        batches = BatchMaker(
            data,
            tokens,
            PairBatches(
                size=arguments.pairs,
                chunk_tokens=arguments.chunk_tokens,
                exclude_homonyms=False,
            ),
            seed=0,
            graph=True,
            pad=0,
        )
        drawn = [batches[step] for step in range(steps + 1)]
        compare(base, data, drawn, device)


def compare(base: Path, data: TrainingSet, drawn: list[Batch], device: torch.device) -> None:
    labels = len(data.relation_labels)
    precisions = ("fp32", "bf16")
    models = {"plain": make_model(base, labels, None, device)}
    for precision in precisions:
        half = torch.bfloat16 if precision == "bf16" else None
        models[precision] = make_model(base, labels, half, device)
    if device.type == "cuda":
        models["plain"].autocast_dtype = torch.bfloat16
    sides = {name: Side() for name in models}
    steps = {name: stepper(name, model) for name, model in models.items()}
    for number, batch in enumerate(drawn):
        batch = batch.to(device)
        totals = {}
        for name, step in steps.items():
            taken, totals[name] = measure(lambda s=step, b=batch, n=number: s(b, n), device)
            if number:  # the first step warms up
                sides[name].seconds += taken.seconds
                sides[name].cpu += taken.cpu
                sides[name].mib = max(sides[name].mib, taken.mib)
                sides[name].tokens += (
                    batch.slots if name != "plain" else batch.rows.numel() * LENGTH
                )
        if device.type == "cpu" and abs(totals["plain"] - totals["fp32"]) > 2e-3 * totals["plain"]:
            raise SystemExit(f"The sides disagree at step {number}: {totals}")
    if device.type == "cpu":
        for name in sides:
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                future = process.submit(peak_on_cpu, name, base, labels, drawn[0])
                sides[name].mib = future.result()
    report(sides, drawn[1:], models["plain"], device)


def report(sides: dict[str, Side], drawn: list[Batch], model: Any, device: torch.device) -> None:
    pairs = sum(batch.centres for batch in drawn)
    useful = sum(batch.tokens for batch in drawn)
    parameters = sum(p.numel() for n, p in model.lm.named_parameters() if "embeddings" not in n)
    print(f"\n{'':8}{'pairs/s':>9}{'CPU s':>9}{'peak MiB':>10}{'useful':>8}{'of peak':>9}")
    fractions = {}
    for name, side in sides.items():
        dtype = torch.bfloat16 if name == "bf16" or device.type == "cuda" else torch.float32
        rate = 6 * parameters * useful / side.seconds
        fractions[name] = rate / product_rate(device, dtype)
        print(
            f"{name:8}{pairs / side.seconds:>9.1f}{side.cpu:>9.2f}{side.mib:>10.0f}"
            f"{useful / side.tokens:>8.2f}{fractions[name]:>9.2f}"
        )
    plain, result = sides["plain"], {}
    if device.type == "cuda":
        result["pairs_per_s_ratio"] = round(plain.seconds / sides["bf16"].seconds, 2)
    else:
        result["cpu_ratio_fp32"] = round(plain.cpu / sides["fp32"].cpu, 2)
        result["cpu_ratio_bf16"] = round(plain.cpu / sides["bf16"].cpu, 2)
    result |= {
        "useful_share": round(useful / sides["fp32"].tokens, 3),
        "plain_useful_share": round(useful / plain.tokens, 3),
        "peak_mib": round(sides["fp32"].mib),
        "plain_peak_mib": round(plain.mib),
        "peak_fraction": round(fractions["bf16"], 3),
    }
    print(json.dumps(result))


def make_model(base: Path, labels: int, half: Any, device: torch.device) -> BergamotModel:
    from transformers import AutoModel

    torch.manual_seed(0)
    lm = AutoModel.from_pretrained(base, local_files_only=True, trust_remote_code=False)
    dim = lm.config.hidden_size
    made = {
        "text": make_text()(dim, labels),
        "node": make_node()(dim, labels),
        "intermodal": make_intermodal()(dim, labels),
        "dgi": make_dgi()(dim, labels),
    }
    encoder = make_gatv2(dropout=0.0)(dim, labels)
    model = BergamotModel(lm, encoder, made, pooling="mean", autocast_dtype=half)
    return model.to(device).train()


def stepper(name: str, model: BergamotModel) -> Callable[[Batch, int], float]:
    if name == "plain":
        plain = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=False)
        return lambda batch, number: plain_step(model, plain, batch, number)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    gradients = GradientStep(model, Processes(), seed=0, cache=False, scaler=scaler)

    def ours(batch: Batch, number: int) -> float:
        optimizer.zero_grad(set_to_none=True)
        losses = gradients(batch, number)
        optimizer.step()
        return float(losses["total"])

    return ours


def plain_step(model: BergamotModel, optimizer: Any, batch: Batch, number: int) -> float:
    optimizer.zero_grad(set_to_none=True)
    device = batch.rows.device
    with model.autocast(device):
        views = [encode_all(model, batch, view) for view in range(VIEWS)]
        centres = batch.centres
        text = [view[:centres] for view in views]
        edges = batch.edges.expand(VIEWS, -1, -1)
        graph = [model.graph_encoder(v, batch.edges, batch.relations)[:centres] for v in views]
        seed_everything(0, number, 0)
        _, wrong = corrupt(torch.stack(views), edges, centres, "edges")
        false = [
            model.graph_encoder(view, e, batch.relations)[:centres]
            for view, e in zip(views, wrong, strict=True)
        ]
    labels = batch.labels.flatten()
    losses = [metric(text, labels), metric(graph, labels)]
    pairs = list(zip(text, graph, strict=True))
    losses.append(sum(metric(list(pair), labels) for pair in pairs) / 2)
    objective: Any = model.objectives["dgi"]
    both = zip(graph, false, strict=True)
    losses.append(sum(objective._view(t.float(), f.float()) for t, f in both) / 2 * 0.1)
    total = torch.stack(losses).sum()
    total.backward()
    optimizer.step()
    return total.item()


def encode_all(model: BergamotModel, batch: Batch, view: int) -> Tensor:
    """Encode every node's name of a view, padded to the full length."""
    ids = torch.zeros(batch.names, LENGTH, dtype=torch.int64, device=batch.rows.device)
    mask = torch.zeros_like(ids)
    for chunk in batch.chunks:
        rows, width = chunk.ids.shape
        ids[chunk.start : chunk.start + rows, :width] = batch.vocabulary[chunk.ids] * chunk.mask
        mask[chunk.start : chunk.start + rows, :width] = chunk.mask
    ids, mask = ids[batch.rows[view]], mask[batch.rows[view]]
    hidden = model.lm(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask[..., None]
    return (hidden * weights).sum(1) / weights.sum(1)


def metric(parts: list[Tensor], labels: Tensor) -> Tensor:
    embeddings = torch.cat(parts).float()
    mined = TripletMarginMiner(margin=0.2, type_of_triplets="all")(embeddings, labels)
    return MultiSimilarityLoss(alpha=2, beta=50, base=0.5)(embeddings, labels, mined)


def peak_on_cpu(name: str, base: Path, labels: int, batch: Batch) -> float:
    """Return the MiB that one step adds, in a fresh process: memory that another side freed, or
    that the process held before, does not count."""
    half = torch.bfloat16 if name == "bf16" else None
    step = stepper(name, make_model(base, labels, half, torch.device("cpu")))
    with MemoryWatch() as watch:
        step(batch, 0)
    return watch.mib


if __name__ == "__main__":
    main()
