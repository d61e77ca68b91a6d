"""Graph encoders: node features and typed edges in, node embeddings of the same width out."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATv2Conv, RGCNConv, SAGEConv

from training.errors import BergamotError, Errors
from training.registry import registry

Factory = Callable[[int, int], "GraphEncoder"]


class GraphEncoder(nn.Module):
    """Convolutions on one neighbourhood; dropout and GELU between them, none after the last.

    convolutions (list[nn.Module]): Each called as conv(features, edges, relations).
    output (nn.Module): Applied to the last convolution's result.
    """

    def __init__(self, convolutions: list[nn.Module], *, output: nn.Module, dropout: float) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(convolutions)
        self.output = output
        self.dropout = dropout

    def forward(self, features: Tensor, edges: Tensor, relations: Tensor) -> Tensor:
        """Return the new features of nodes, float32 (n, dim).

        features (Tensor): float32 (n, dim).
        edges (Tensor): int64 (2, edges), from and to.
        relations (Tensor): int64 (edges,), relation of every edge.
        """
        """Return node embeddings (n, d).

        features (float (n, d)): Text embeddings of the nodes.
        edges (int64 (2, e)): Sources and targets.
        relations (int64 (e,)): Relation ids.
        """
        for number, convolution in enumerate(self.convolutions):
            if number:
                features = functional.dropout(features, self.dropout, self.training)
                features = functional.gelu(features)
            features = convolution(features, edges, relations)
        return self.output(features)


class GATv2Layer(nn.Module):
    """GATv2 (Brody et al. 2022): shared weights, self-loops, relations as optional features."""

    def __init__(
        self, dim: int, *, heads: int, dropout: float, n_relations: int, self_loops: bool = True
    ) -> None:
        super().__init__()
        self.relations = nn.Embedding(n_relations, dim) if n_relations else None
        self.convolution = GATv2Conv(
            dim,
            dim // heads,
            heads=heads,
            dropout=dropout,
            share_weights=True,
            add_self_loops=self_loops,
            edge_dim=dim if n_relations else None,
        )

    def forward(self, features: Tensor, edges: Tensor, relations: Tensor) -> Tensor:
        attributes = None if self.relations is None else self.relations(relations)
        return self.convolution(features, edges, attributes)


class SageLayer(nn.Module):
    """GraphSAGE with mean aggregation; edges are undirected and untyped."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.convolution = SAGEConv(dim, dim, aggr="mean")

    def forward(self, features: Tensor, edges: Tensor, relations: Tensor) -> Tensor:
        return self.convolution(features, torch.cat([edges, edges.flip(0)], dim=1))


class RgcnLayer(nn.Module):
    """R-GCN (Schlichtkrull et al. 2018) with basis or block decomposition and a root weight."""

    def __init__(
        self, dim: int, *, n_relations: int, bases: int | None, blocks: int | None
    ) -> None:
        super().__init__()
        self.convolution = RGCNConv(dim, dim, n_relations, num_bases=bases, num_blocks=blocks)

    def forward(self, features: Tensor, edges: Tensor, relations: Tensor) -> Tensor:
        return self.convolution(features, edges, relations)


@registry.graph_encoders("gatv2.v1")
def make_gatv2(
    layers: int = 3,
    heads: int = 2,
    dropout: float = 0.1,
    edge_features: Literal["none", "relation"] = "none",
    self_loops: bool = True,
) -> Factory:
    """GATv2 as in BERGAMOT: `layers` convolutions on the same hop, then a linear layer.

    RAISES (BergamotError): T202 for several convolutions without self-loops: the neighbours
    receive no message, become constant, and every centre's embedding becomes the same.
    """
    if layers > 1 and not self_loops:
        raise BergamotError(Errors.T202, layers=layers)

    def make(dim: int, n_relations: int) -> GraphEncoder:
        if dim % heads:
            raise BergamotError(Errors.T203, dim=dim, heads=heads)
        typed = n_relations if edge_features == "relation" else 0
        convolutions: list[nn.Module] = [
            GATv2Layer(dim, heads=heads, dropout=dropout, n_relations=typed, self_loops=self_loops)
            for _ in range(layers)
        ]
        return GraphEncoder(convolutions, output=nn.Linear(dim, dim), dropout=dropout)

    return make


@registry.graph_encoders("graphsage.v1")
def make_graphsage(layers: int = 3, dropout: float = 0.1) -> Factory:
    """GraphSAGE (Hamilton et al. 2017) over undirected, untyped edges."""

    def make(dim: int, n_relations: int) -> GraphEncoder:
        convolutions: list[nn.Module] = [SageLayer(dim) for _ in range(layers)]
        return GraphEncoder(convolutions, output=nn.Identity(), dropout=dropout)

    return make


@registry.graph_encoders("rgcn.v1")
def make_rgcn(
    layers: int = 3,
    dropout: float = 0.1,
    decomposition: Literal["bases", "blocks"] = "bases",
    size: int = 8,
) -> Factory:
    """R-GCN with `size` bases or blocks a layer."""

    def make(dim: int, n_relations: int) -> GraphEncoder:
        if decomposition == "blocks" and dim % size:
            raise BergamotError(Errors.T203, dim=dim, heads=size)
        bases = size if decomposition == "bases" else None
        blocks = size if decomposition == "blocks" else None
        convolutions: list[nn.Module] = [
            RgcnLayer(dim, n_relations=max(1, n_relations), bases=bases, blocks=blocks)
            for _ in range(layers)
        ]
        return GraphEncoder(convolutions, output=nn.Identity(), dropout=dropout)

    return make
