"""The metric losses of SapBERT's comparison, over cosines and masks of pairs.

A loss returns terms (t, 2): of each term the sum over what it counts, and the count. The loss is
Σ over terms of sum / count, so that a batch can be worked through in blocks of rows.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from training.registry import registry

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""similarities (r, b), positives (r, b), negatives (r, b) → terms (t, 2); anchors in rows."""


@registry.losses("multi_similarity.v1")
def make_multi_similarity(alpha: float = 2.0, beta: float = 50.0, epsilon: float = 0.5) -> Loss:
    """Multi-similarity loss (Wang et al. 2019, eq. 10).

    The mean over anchors of
    1/α · log(1 + Σ_p exp(-α(S_ip - ε))) + 1/β · log(1 + Σ_n exp(β(S_in - ε))).

    An anchor without mined pairs adds 0 and counts.

    alpha, beta (float): Sharpness on positives and on negatives.
    epsilon (float): Similarity at which a pair is neither pulled nor pushed.
    """

    def loss(similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        pulled = _log1p_sum_exp(-alpha * (similarities - epsilon), positives) / alpha
        pushed = _log1p_sum_exp(beta * (similarities - epsilon), negatives) / beta
        return _terms((pulled + pushed).sum(), len(similarities))

    return loss


@registry.losses("cosine.v1")
def make_cosine(positive_margin: float = 1.0, negative_margin: float = 0.0) -> Loss:
    """Contrastive cosine loss: positives up to one margin, negatives down to the other.

    Each term is the mean over the pairs that are not there yet.
    """

    def loss(similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        pulled = (positive_margin - similarities).relu() * positives
        pushed = (similarities - negative_margin).relu() * negatives
        return torch.cat([_nonzero(pulled), _nonzero(pushed)])

    return loss


@registry.losses("triplet.v1")
def make_triplet(margin: float = 0.2) -> Loss:
    """Max-margin triplet loss over all triplets that violate the margin, d on unit vectors.

    No triplet tensor: rows of negatives are gathered for the positives alone, which are few.
    """

    def loss(similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        distances = _distances(similarities)
        anchors, _ = positives.nonzero(as_tuple=True)
        rows = distances.index_select(0, anchors)
        violation = distances[positives][:, None] - rows + margin
        return _nonzero(violation.relu() * negatives[anchors])

    return loss


@registry.losses("nca.v1")
def make_nca(scale: float = 20.0) -> Loss:
    """Neighbourhood components analysis (Goldberger et al. 2004) with softmax scale on d²."""

    def loss(similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        logits = 2 * scale * similarities
        everything = _log_sum_exp(logits, positives | negatives)
        present = positives.any(1)
        own = _log_sum_exp(logits, positives)
        return _terms(torch.where(present, everything - own, 0).sum(), present.sum())

    return loss


@registry.losses("infonce.v1")
def make_infonce(temperature: float = 0.07) -> Loss:
    """InfoNCE (van den Oord et al. 2018): the mean over positive pairs against all negatives."""

    def loss(similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        logits = similarities / temperature
        hostile = _log_sum_exp(logits, negatives)
        counted = positives & negatives.any(1, keepdim=True)
        lost = functional.softplus(hostile[:, None] - logits)
        return _terms(torch.where(counted, lost, 0).sum(), counted.sum())

    return loss


@registry.losses("circle.v1")
def make_circle(m: float = 0.25, gamma: float = 256.0) -> Loss:
    """Circle loss (Sun et al. 2020, eq. 6): the mean over anchors whose loss is above zero."""

    def loss(similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        still = similarities.detach()
        pull = -gamma * (1 + m - still).relu() * (similarities - (1 - m))
        push = gamma * (still + m).relu() * (similarities - m)
        both = positives.any(1) & negatives.any(1)
        raw = _log_sum_exp(pull, positives) + _log_sum_exp(push, negatives)
        return _nonzero(functional.softplus(torch.where(both, raw, -torch.inf)))

    return loss


class LiftedStructure:
    """Lifted structure loss (Oh Song et al. 2016, eq. 4): negatives of both ends of a pair.

    It needs the rows of the positives too, so a batch cannot be worked through in blocks.
    """

    whole = True

    def __init__(self, margin: float) -> None:
        self.margin = margin

    def __call__(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        """Return the terms of the loss; arguments and shapes are those of `Loss`."""
        distances = _distances(similarities)
        hostile = _log_sum_exp(self.margin - distances, negatives)
        anchors, others = positives.nonzero(as_tuple=True)
        both = torch.logaddexp(*(hostile.index_select(0, end) for end in (anchors, others)))
        lost = (both + distances[anchors, others]).relu().square() / 2
        return _terms(lost.sum(), len(lost))


@registry.losses("lifted_structure.v1")
def make_lifted_structure(margin: float = 0.5) -> Loss:
    """Configure the lifted structure loss; see `LiftedStructure`."""
    return LiftedStructure(margin)


def reduce_terms(terms: Tensor) -> Tensor:
    """Return Σ over terms (t, 2) of sum / count; nothing counted is zero."""
    return (terms[:, 0] / terms[:, 1].clamp(min=1)).sum()


def _terms(total: Tensor, count: int | Tensor) -> Tensor:
    counted = torch.as_tensor(count, dtype=total.dtype, device=total.device)
    return torch.stack([total, counted])[None]


def _nonzero(values: Tensor) -> Tensor:
    return _terms(values.sum(), (values.detach() > 0).sum())


def _distances(similarities: Tensor) -> Tensor:
    """Return L2 distances of unit vectors; the floor keeps the root's gradient finite."""
    return (2 - 2 * similarities).clamp(min=1e-12).sqrt()


def _log_sum_exp(values: Tensor, mask: Tensor) -> Tensor:
    """Return log Σ exp(values) over the masked entries of every row; very low for an empty row."""
    return torch.logsumexp(values.masked_fill(~mask, torch.finfo(values.dtype).min), dim=1)


def _log1p_sum_exp(values: Tensor, mask: Tensor) -> Tensor:
    """Return log(1 + Σ exp(values)) over the masked entries of every row, without overflow."""
    masked = values.masked_fill(~mask, -torch.inf)
    return torch.logsumexp(functional.pad(masked, (1, 0)), dim=1)
