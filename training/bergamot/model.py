"""BERGAMOT's model: a language model, a graph encoder over its embeddings, and objectives."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from spacy_bergamot.encoder.packed import encode_packed, first_position, is_packable
from spacy_bergamot.encoder.padded import pool
from training.bergamot.batches import Batch
from training.bergamot.graph_encoders import GraphEncoder
from training.bergamot.objectives import VIEWS, Embeddings, Objective


class BergamotModel(nn.Module):
    """Compute every objective's loss of a batch.

    lm (nn.Module): A Hugging Face encoder.
    graph_encoder (GraphEncoder | None): None where no objective needs it.
    objectives (Mapping[str, Objective]): By name; their weights are above zero.
    pooling (str): "cls" or "mean".
    detach_neighbours (bool): Send no gradient into the neighbours' text embeddings.
    autocast_dtype (torch.dtype | None): Autocast of both encoders; losses are computed in float32.
    """

    def __init__(
        self,
        lm: Any,
        graph_encoder: GraphEncoder | None,
        objectives: Mapping[str, Objective],
        *,
        pooling: str,
        detach_neighbours: bool = False,
        autocast_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.lm = lm
        self.graph_encoder = graph_encoder
        self.objectives = nn.ModuleDict(objectives)
        self.weights = {name: objective.weight for name, objective in objectives.items()}
        self.pooling = pooling
        self.packs = is_packable(lm)
        self.detach_neighbours = detach_neighbours
        self.autocast_dtype = autocast_dtype

    @property
    def dim(self) -> int:
        """Width of the embeddings."""
        return int(self.lm.config.hidden_size)

    def forward(self, table: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Return the unweighted loss (scalar) of every objective, by name.

        table (float (names, d)): Text embeddings of the batch's distinct names.
        """
        embeddings = self.embed(table, batch)
        return {name: objective(embeddings) for name, objective in self.objectives.items()}

    def total(self, losses: Mapping[str, Tensor]) -> Tensor:
        """Return Σ weight · loss."""
        weighted = [losses[name] * self.weights[name] for name in losses]
        return torch.stack(weighted).sum()

    def encode(self, tokens: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Return text embeddings (rows, d) in float32.

        tokens (float (u, d)): Input embeddings. ids (int64 (rows, length)): Rows of `tokens`.
        """
        with self.autocast(ids.device):
            if self.packs and ids.device.type == "cpu":
                return self._encode_packed(tokens, ids, mask)
            inputs = functional.embedding(ids, tokens)
            hidden = self.lm(inputs_embeds=inputs, attention_mask=mask).last_hidden_state
        return pool(hidden.float(), mask, self.pooling)

    def _encode_packed(self, tokens: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the same without computing padding: on a CPU every token costs.

        The rows of a chunk are in order of length, so names of equal length are adjacent.
        """
        lengths, counts = mask.sum(1).unique_consecutive(return_counts=True)
        shapes = list(zip(counts.tolist(), lengths.tolist(), strict=True))
        real = mask.bool()
        positions = (mask.cumsum(1) - 1 + first_position(self.lm))[real]
        inputs = functional.embedding(ids[real], tokens)
        hidden = self.lm.embeddings(
            inputs_embeds=inputs[None],
            position_ids=positions[None],
            token_type_ids=torch.zeros_like(positions)[None],
        )
        return encode_packed(self.lm, hidden[0], shapes, self.pooling)

    def embed(self, table: Tensor, batch: Batch) -> Embeddings:
        """Return the embeddings that the objectives need."""
        centres = batch.labels.shape[1]
        # Not table[rows]: on several threads its gradient is summed in any order.
        features = functional.embedding(batch.rows, table)
        text = features[:, :centres]
        if self.graph_encoder is None:
            return Embeddings(
                batch.labels,
                batch.excluded,
                text,
                links=batch.links,
                known=batch.known,
                targets=batch.targets,
            )
        if self.detach_neighbours:
            features = torch.cat([text, features[:, centres:].detach()], dim=1)

        def corrupted(kind: str) -> Tensor:
            return self._encode_graph(*corrupt(features, batch.edges, centres, kind), batch)

        edges = batch.edges.expand(VIEWS, -1, -1)
        graph = self._encode_graph(features, edges, batch)
        return Embeddings(batch.labels, batch.excluded, text, graph, corrupted)

    def autocast(self, device: torch.device) -> Any:
        """Return the autocast context; weights are cast once in the outermost one."""
        dtype = self.autocast_dtype
        return torch.autocast(device.type, dtype=dtype, enabled=dtype is not None)

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Switch dropout off and autocast on, for names that are encoded between steps."""
        training = self.training
        self.eval()
        try:
            with self.autocast(next(self.lm.parameters()).device):
                yield
        finally:
            self.train(training)

    def _encode_graph(self, features: Tensor, edges: Tensor, batch: Batch) -> Tensor:
        """Return graph embeddings (2, N, d); both views go through as one graph.

        features (2, n, d); edges (2 views, 2, e).
        """
        assert self.graph_encoder is not None
        nodes = features.shape[1]
        offsets = nodes * torch.arange(VIEWS, device=edges.device)[:, None, None]
        joined = torch.cat(tuple(edges + offsets), dim=1)
        relations = batch.relations.repeat(VIEWS)
        with self.autocast(features.device):
            output = self.graph_encoder(features.flatten(0, 1), joined, relations)
        return output.float().unflatten(0, (VIEWS, nodes))[:, : batch.centres]


def corrupt(features: Tensor, edges: Tensor, centres: int, kind: str) -> tuple[Tensor, Tensor]:
    """Return features (2, n, d) and edges (2 views, 2, e) of a corrupted graph.

    "edges" permutes the targets of the edges, as the released code; "centres" permutes the
    centres' features, as the paper. Each view gets a permutation of its own.
    """
    device = edges.device
    if kind == "edges":
        count = edges.shape[1]
        permuted = [edges[1][torch.randperm(count, device=device)] for _ in range(VIEWS)]
        return features, torch.stack([torch.stack([edges[0], target]) for target in permuted])
    views = [
        torch.cat([view[:centres][torch.randperm(centres, device=device)], view[centres:]])
        for view in features
    ]
    return torch.stack(views), edges.expand(VIEWS, -1, -1)
