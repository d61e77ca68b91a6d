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
from torch import Tensor

from training.bergamot.batches import Batch, Chunk
from training.bergamot.model import BergamotModel
from training.bergamot.processes import Processes

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
        self.lm_parameters = [p for name, p in named if name.startswith("lm.")]
        self.other_parameters = [p for name, p in named if not name.startswith("lm.")]

    def __call__(self, batch: Batch, step: int) -> dict[str, Tensor]:
        """Return the total and each objective's loss, on the device and unread."""
        looked_up = self.model.look_up(batch.vocabulary)
        tokens = looked_up.detach().requires_grad_(looked_up.requires_grad)
        table, outputs = self._encode(batch, tokens, step)
        table = self.processes.sum(table).requires_grad_()
        seed_everything(self.seed, step, _HEAD)
        losses = self.model(table, batch)
        total = self.model.total(losses)
        self.scaler.scale(total).backward()
        if table.grad is not None:
            self._backward(batch, tokens, step, outputs, table.grad)
        if tokens.grad is not None:
            looked_up.backward(tokens.grad)
        # Each name is encoded by one process; everything else is computed by all of them.
        self.processes.reduce_gradients(self.lm_parameters, mean=False)
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


def seed_everything(seed: int, step: int, part: int) -> None:
    """Seed torch for one part of one step."""
    torch.manual_seed(int(np.random.SeedSequence([seed, 2, step, part]).generate_state(1)[0]))
