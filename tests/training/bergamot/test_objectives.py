import math

import pytest
import torch
from torch_geometric.nn import DeepGraphInfomax

from training.bergamot.losses import MinedLoss
from training.bergamot.objectives import Embeddings
from training.bergamot.objectives.dgi import make_dgi
from training.bergamot.objectives.intermodal import make_intermodal
from training.bergamot.objectives.node import make_node
from training.bergamot.objectives.text import make_text

N, DIM = 12, 8


@pytest.fixture
def embeddings() -> Embeddings:
    generator = torch.Generator().manual_seed(0)
    text, graph, false = (torch.randn(2, N, DIM, generator=generator) for _ in range(3))
    labels = torch.tensor([0, 0, *range(1, N - 1)]).repeat(2, 1)
    homonyms = torch.zeros(N, N, dtype=torch.bool)
    return Embeddings(labels, homonyms, text, graph, lambda kind: false)


def test_text_and_node_are_one_loss_over_both_views(embeddings: Embeddings):
    labels, loss = embeddings.labels.flatten(), MinedLoss()
    expected = loss(torch.cat(list(embeddings.text)), labels)
    assert make_text()(DIM, 3)(embeddings).item() == pytest.approx(expected.item())
    expected = loss(torch.cat(list(embeddings.graph)), labels)
    assert make_node()(DIM, 3)(embeddings).item() == pytest.approx(expected.item())


def test_intermodal_is_the_mean_over_views(embeddings: Embeddings):
    labels, loss = embeddings.labels.flatten(), MinedLoss()
    views = [
        loss(torch.cat([embeddings.text[v], embeddings.graph[v]]), labels).item() for v in (0, 1)
    ]
    assert make_intermodal()(DIM, 3)(embeddings).item() == pytest.approx(sum(views) / 2)


@pytest.mark.parametrize("alignment", ["cosine", "mse"])
def test_other_alignments_are_zero_for_equal_embeddings(embeddings: Embeddings, alignment: str):
    same = Embeddings(embeddings.labels, embeddings.no_negatives, embeddings.text, embeddings.text)
    objective = make_intermodal(alignment=alignment)(DIM, 3)
    assert objective(same).item() == pytest.approx(0, abs=1e-6)
    assert objective(embeddings).item() > 0.1


@pytest.mark.parametrize("readout", ["sigmoid_mean", "mean"])
def test_dgi_equals_torch_geometric(embeddings: Embeddings, readout: str):
    objective = make_dgi(readout=readout)(DIM, 3)
    summarise = torch.nn.Identity()
    reference = DeepGraphInfomax(DIM, summarise, summarise, summarise)
    reference.weight.data = objective.discriminator.data
    false = embeddings.corrupted("edges")
    expected = []
    for true, corrupted in zip(embeddings.graph, false, strict=True):
        summary = true.mean(0).sigmoid() if readout == "sigmoid_mean" else true.mean(0)
        expected.append(reference.loss(true, corrupted, summary))
    assert objective(embeddings).item() == pytest.approx(float(sum(expected) / 2), rel=1e-4)


def test_dgi_starts_near_chance_for_a_zero_discriminator(embeddings: Embeddings):
    objective = make_dgi()(DIM, 3)
    objective.discriminator.data.zero_()
    assert objective(embeddings).item() == pytest.approx(2 * math.log(2))


def test_homonyms_are_not_pushed_apart(embeddings: Embeddings):
    everyone = ~torch.eye(N, dtype=torch.bool)
    spared = Embeddings(embeddings.labels, everyone, embeddings.text)
    assert make_text()(DIM, 3)(spared) < make_text()(DIM, 3)(embeddings)
