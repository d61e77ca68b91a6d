"""A plain training step: every name padded to the full length, encoded by itself, view by view.

Losses come from pytorch-metric-learning and PyG; nothing of ours but the batch's contents, the
modules that hold the parameters, and the rule that seeds the corruption.
"""

from typing import Any

import torch
from confection import Config
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor
from torch_geometric.nn import DeepGraphInfomax

from training.bergamot.batches import Batch
from training.bergamot.config import config_id, resolve
from training.bergamot.folder import make_tokens, prepare_base
from training.bergamot.processes import Processes
from training.bergamot.run import Run
from training.bergamot.trainer import Trainer
from training.preprocess.training_set import TrainingSet

LENGTH = 25


def make_trainer(config: Config) -> Trainer:
    from pathlib import Path

    output = Path(config["paths"]["output"])
    output.mkdir(parents=True, exist_ok=True)
    data = TrainingSet.open(Path(config["paths"]["training_set"]))
    parts, identity = resolve(config), config_id(config, data)
    prepare_base(parts["text_encoder"], data, output, identity, seed=0)
    make_tokens(data, output)
    trainer = Run(config, parts, data, output, "cpu", identity, Processes()).trainer()
    trainer.model.train()
    return trainer


def token_rows(batch: Batch) -> dict[int, list[int]]:
    """Return the token ids of every row of the batch's table."""
    return {
        chunk.start + i: batch.vocabulary[ids][mask.bool()].tolist()
        for chunk in batch.chunks
        for i, (ids, mask) in enumerate(zip(chunk.ids, chunk.mask, strict=True))
    }


def plain_losses(model: Any, batch: Batch, permutations: list[Tensor]) -> dict[str, Tensor]:
    """Return the losses of a batch, computed name by name and view by view."""
    tokens = token_rows(batch)
    views = [torch.cat([_encode(model, tokens[int(row)]) for row in rows]) for rows in batch.rows]
    centres = batch.centres
    text = [view[:centres] for view in views]
    losses = {}
    if "text" in model.objectives:
        losses["text"] = _metric(torch.cat(text), batch.labels[0])
    if model.graph_encoder is None:
        return losses
    graph = [_graph(model, view, batch.edges, batch)[:centres] for view in views]
    if "node" in model.objectives:
        losses["node"] = _metric(torch.cat(graph), batch.labels[0])
    if "intermodal" in model.objectives:
        pairs = zip(text, graph, strict=True)
        losses["intermodal"] = sum(_metric(torch.cat(pair), batch.labels[0]) for pair in pairs) / 2
    if "dgi" in model.objectives:
        losses["dgi"] = _dgi(model, views, graph, batch, permutations)
    return losses


def _encode(model: Any, ids: list[int]) -> Tensor:
    padded = torch.tensor([ids + [0] * (LENGTH - len(ids))])
    mask = torch.tensor([[1] * len(ids) + [0] * (LENGTH - len(ids))])
    hidden = model.lm(input_ids=padded, attention_mask=mask).last_hidden_state
    if model.pooling == "cls":
        return hidden[:, 0]
    return hidden[:, : len(ids)].mean(1)


def _graph(model: Any, features: Tensor, edges: Tensor, batch: Batch) -> Tensor:
    encoder = model.graph_encoder
    for number, layer in enumerate(encoder.convolutions):
        if number:
            features = torch.nn.functional.gelu(features)
        kind = type(layer).__name__
        if kind == "SageLayer":
            features = layer.convolution(features, torch.cat([edges, edges.flip(0)], 1))
        elif kind == "RgcnLayer":
            features = layer.convolution(features, edges, batch.relations)
        elif layer.relations is None:
            features = layer.convolution(features, edges)
        else:
            features = layer.convolution(features, edges, layer.relations(batch.relations))
    return encoder.output(features)


def _metric(embeddings: Tensor, labels: Tensor) -> Tensor:
    mined = TripletMarginMiner(margin=0.2, type_of_triplets="all")(embeddings, labels.repeat(2))
    return MultiSimilarityLoss(alpha=2, beta=50, base=0.5)(embeddings, labels.repeat(2), mined)


def _dgi(
    model: Any, views: list[Tensor], graph: list[Tensor], batch: Batch, permutations: list[Tensor]
) -> Tensor:
    objective, centres = model.objectives["dgi"], batch.centres
    module = DeepGraphInfomax(model.dim, None, None, None)
    del module.weight
    module.weight = objective.discriminator
    total = torch.zeros(())
    for view, true, permutation in zip(views, graph, permutations, strict=True):
        edges = batch.edges
        if objective.corruption == "edges":
            edges = torch.stack([edges[0], edges[1][permutation]])
        else:
            view = torch.cat([view[:centres][permutation], view[centres:]])
        false = _graph(model, view, edges, batch)[:centres]
        summary = true.mean(0)
        if objective.readout == "sigmoid_mean":
            summary = summary.sigmoid()
        total = total + module.loss(true, false, summary)
    return total / 2
