import pytest
import torch

from training.bergamot.graph_encoders import make_gatv2, make_graphsage, make_rgcn
from training.errors import BergamotError

DIM, RELATIONS = 16, 3
EDGES = torch.tensor([[2, 3, 4, 4], [0, 0, 0, 1]])
TYPES = torch.tensor([0, 1, 2, 0])
FACTORIES = {
    "gatv2": make_gatv2(dropout=0.0),
    "gatv2-typed": make_gatv2(dropout=0.0, edge_features="relation"),
    "graphsage": make_graphsage(dropout=0.0),
    "rgcn-bases": make_rgcn(dropout=0.0, size=2),
    "rgcn-blocks": make_rgcn(dropout=0.0, decomposition="blocks", size=4),
}


def encode(name: str, features: torch.Tensor, types: torch.Tensor = TYPES) -> torch.Tensor:
    torch.manual_seed(0)
    return FACTORIES[name](DIM, RELATIONS).eval()(features, EDGES, types)


@pytest.fixture
def features() -> torch.Tensor:
    return torch.randn(5, DIM, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", FACTORIES)
def test_output_depends_on_the_centre_and_on_its_neighbours(name: str, features: torch.Tensor):
    before = encode(name, features)
    assert before.shape == (5, DIM)
    assert not torch.allclose(before[0], before[1])
    for node, changes_second_centre in ((0, False), (2, False), (4, True)):
        changed = features.clone()
        changed[node] += 1.0
        after = encode(name, changed)
        assert not torch.allclose(before[0], after[0], atol=1e-5)
        if changes_second_centre:
            assert not torch.allclose(before[1], after[1], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "typed"),
    [("gatv2", False), ("graphsage", False), ("gatv2-typed", True), ("rgcn-bases", True)],
)
def test_relation_types_count_where_they_should(name: str, typed: bool, features: torch.Tensor):
    same = torch.allclose(encode(name, features), encode(name, features, TYPES.flip(0)), atol=1e-6)
    assert same != typed


def test_gatv2_without_self_loops_is_refused_on_several_layers():
    with pytest.raises(BergamotError, match="T202"):
        make_gatv2(layers=3, self_loops=False)
    make_gatv2(layers=1, self_loops=False)


@pytest.mark.parametrize("make", [make_gatv2(heads=3), make_rgcn(decomposition="blocks", size=5)])
def test_a_width_that_heads_or_blocks_do_not_divide_is_refused(make):
    with pytest.raises(BergamotError, match="T203"):
        make(DIM, RELATIONS)
