"""One training step's forward and backward pass.

The language model's vectors of a batch are one leaf tensor: the objectives are differentiated
down to it, then each chunk of names from it into the language model. A chunk's graph is either
kept in between, or computed again (gradient caching: Gao et al. 2021, "Scaling Deep Contrastive
Learning Batch Size under Memory Limited Setup"), which makes memory independent of the batch.

Random numbers depend on the seed, the step and the chunk alone, so that a chunk computed again,
in another process or after a resume drops out the same units.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from training.bergamot.batches import Batch
from training.bergamot.chunks import Chunk
from training.bergamot.model import BergamotModel
from training.bergamot.processes import Processes
from training.bergamot.row_gradients import row_tables, sum_rows

_HEAD = 0
"""Part number of the graph encoder and the objectives; chunk i is part i + 1."""


class GradientStep:
    """Compute the losses of a batch and add their gradients to the parameters.

    cache (bool): Compute chunks again in the backward pass and keep no graph of the LM.
    scaler (torch.amp.GradScaler): Scales the total before the backward pass.
    """

    def __init__(
        self,
        model: BergamotModel,
        processes: Processes,
        *,
        seed: int,
        cache: bool,
        scaler: Any,
    ) -> None:
        self.model = model
        self.processes = processes
        self.seed = seed
        self.cache = cache
        self.scaler = scaler
        named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        everywhere = processes.count > 1 or scaler.is_enabled()
        self.tokens = TokenEmbeddings(model.lm.get_input_embeddings(), whole=everywhere)
        self.tables = row_tables(model)
        by_rows = set(map(id, self.tables))
        self.lm_parameters = [
            p for name, p in named if name.startswith("lm.") and id(p) not in by_rows
        ]
        self.other_parameters = [p for name, p in named if not name.startswith("lm.")]

    def __call__(self, batch: Batch, step: int) -> dict[str, Tensor]:
        """Return the total and each objective's loss, on the device and unread."""
        tokens = self.tokens.look_up(batch.vocabulary)
        table, outputs = self._encode(batch, tokens, step)
        table = self.processes.sum(table).requires_grad_()
        seed_everything(self.seed, step, _HEAD)
        losses = self.model(table, batch)
        total = self.model.total(losses)
        self.scaler.scale(total).backward()
        if table.grad is not None:
            self._backward(batch, tokens, step, outputs, table.grad)
        self.tokens.backward()
        # Each name is encoded by one process; everything else is computed by all of them.
        self.processes.reduce_gradients(self.lm_parameters, mean=False)
        for table in self.tables if self.processes.count > 1 else ():
            sum_rows(table, self.processes.count)
        self.processes.reduce_gradients(self.other_parameters, mean=True)
        return {"total": total.detach()} | {key: loss.detach() for key, loss in losses.items()}

    def _encode(self, batch: Batch, tokens: Tensor, step: int) -> tuple[Tensor, dict[int, Tensor]]:
        """Return the table of vectors (names, d), zero for other processes' names, and outputs."""
        device = batch.rows.device
        table = torch.zeros(batch.names, self.model.dim, device=device)
        trained = [chunk for chunk in batch.chunks if chunk.trains and not self.cache]
        others = [chunk for chunk in batch.chunks if not chunk.trains or self.cache]
        outputs = {}
        # Contexts of their own: weights that autocast has cast without gradients have none.
        for chunks, differentiated in ((trained, True), (others, False)):
            with self.model.autocast(device), torch.set_grad_enabled(differentiated):
                for chunk in chunks:
                    vectors = self._chunk(chunk, tokens, step)
                    table[chunk.start : chunk.start + len(vectors)] = vectors.detach()
                    outputs[chunk.index] = vectors
        return table, outputs

    def _chunk(self, chunk: Chunk, tokens: Tensor, step: int) -> Tensor:
        seed_everything(self.seed, step, chunk.index + 1)
        return self.model.encode(tokens, chunk.ids, chunk.mask)

    def _backward(
        self,
        batch: Batch,
        tokens: Tensor,
        step: int,
        outputs: dict[int, Tensor],
        gradient: Tensor,
    ) -> None:
        parts = {c.index: gradient[c.start : c.start + len(c.ids)] for c in batch.chunks}
        if not self.cache:
            live = [index for index, vectors in outputs.items() if vectors.requires_grad]
            torch.autograd.backward([outputs[i] for i in live], [parts[i] for i in live])
            return
        with self.model.autocast(gradient.device):
            for chunk in batch.chunks:
                vectors = self._chunk(chunk, tokens, step) if chunk.trains else None
                if vectors is not None and vectors.requires_grad:
                    vectors.backward(parts[chunk.index])


class TokenEmbeddings:
    """Input embeddings of a batch's distinct tokens, looked up and differentiated once a batch.

    The gradient of an embedding table is as large as the vocabulary, however few the tokens. For
    a plain table it is one buffer, of which only the rows of the last batch are cleared.

    whole (bool): Clear the whole buffer: other processes add rows to it, or fp16 may overflow.
    """

    def __init__(self, embedding: Any, *, whole: bool) -> None:
        self.embedding = embedding
        self.whole = whole
        plain = type(embedding) is nn.Embedding and not embedding.sparse
        self.weight: Tensor | None = embedding.weight if plain else None
        self.buffer: Tensor | None = None
        self.dirty: Tensor | None = None

    def look_up(self, vocabulary: Tensor) -> Tensor:
        """Return a leaf (u, d) for token ids (u,)."""
        self.vocabulary = vocabulary
        self.source = self.embedding(vocabulary)
        self.leaf = self.source.detach().requires_grad_(self.source.requires_grad)
        return self.leaf

    def backward(self) -> None:
        """Add the leaf's gradient to the table's."""
        gradient = self.leaf.grad
        if gradient is None:
            return
        if self.weight is None or self.weight.grad is not None:
            self.source.backward(gradient)
            return
        padding = self.embedding.padding_idx
        if padding is not None:
            gradient = gradient * (self.vocabulary != padding)[:, None]
        self.weight.grad = self._clean().index_copy_(0, self.vocabulary, gradient)
        self.dirty = self.vocabulary

    def _clean(self) -> Tensor:
        assert self.weight is not None
        if self.buffer is None or self.buffer.device != self.weight.device:
            self.buffer = torch.zeros_like(self.weight)
        elif self.whole:
            self.buffer.zero_()
        elif self.dirty is not None:
            self.buffer.index_fill_(0, self.dirty, 0)
        return self.buffer


def seed_everything(seed: int, step: int, part: int) -> None:
    """Seed torch for one part of one step."""
    torch.manual_seed(int(np.random.SeedSequence([seed, 2, step, part]).generate_state(1)[0]))
