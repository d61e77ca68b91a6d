"""A transformer's layers for inference on a CPU: weights in the order that oneDNN computes with.

Else oneDNN puts them in order at every call, which for one short name takes a quarter of the time.
A layer is nothing but the operators that it needs, queries, keys and values one of them: a fifth of
the time that is left would go by in Python between torch's modules.
"""

from typing import Any

import torch
from torch import Tensor
from torch.backends import mkldnn

from spacy_bergamot.encoder.runs import Shapes, attend, runs_of, stacked

LEAST_ROWS = 8
_KEPT = "ordered_layers"


def keep_ordered(model: Any) -> None:
    """Keep a model's layers in this form as well, where they can be.

    Their weights are in memory twice then (85 MB of 12 layers 384 wide in float32).

    model: A module for which `is_packable` holds, on whatever device.
    """
    if model.device.type != "cpu" or not mkldnn.is_available():
        return  # a build without oneDNN lacks these operators
    if model.dtype == torch.bfloat16:
        fits = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    else:
        fits = model.dtype == torch.float32
    if fits:
        setattr(model, _KEPT, _OrderedLayers(model.encoder))


def ordered_layers(model: Any) -> "list[OrderedLayer] | None":
    """Return the layers that `keep_ordered` kept, if they compute what the module's own would.

    They have no gradient, and are of the weights as they were.

    model: A module for which `is_packable` holds.
    """
    kept = getattr(model, _KEPT, None)
    if kept is None or model.training or torch.is_grad_enabled():
        return None
    return kept.layers if kept.is_current() and not torch.is_autocast_enabled("cpu") else None


class _OrderedLayers:
    def __init__(self, encoder: Any) -> None:
        self.layers = [OrderedLayer(layer) for layer in encoder.layer]
        # Straight from the modules: `encoder.parameters()` takes a millisecond.
        self._weights = [module._parameters for module in encoder.modules()]
        self._state = self._present()

    def is_current(self) -> bool:
        """Return whether the module's own weights are those that were put in order."""
        return self._state == self._present()

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave nothing to a copy of the model: oneDNN's tensors cannot be copied."""
        return type(None), ()

    def _present(self) -> list[tuple[int, int]]:
        return [
            (weight.data_ptr(), weight._version)
            for held in self._weights
            for weight in held.values()
            if weight is not None
        ]


class OrderedLayer:
    """One layer of BERT's family, called as `spacy_bergamot.encoder.packed` calls its own."""

    def __init__(self, layer: Any) -> None:
        attention, output = layer.attention.self, layer.attention.output
        self._heads = attention.num_attention_heads
        self._projections = _Ordered(attention.query, attention.key, attention.value)
        self._context = _Ordered(output.dense)
        self._inner = _Ordered(layer.intermediate.dense)
        self._activation = layer.intermediate.intermediate_act_fn
        self._outer = _Ordered(layer.output.dense)
        self._norms = [
            (norm.normalized_shape, norm.weight.detach(), norm.bias.detach(), norm.eps)
            for norm in (output.LayerNorm, layer.output.LayerNorm)
        ]

    def __call__(self, rows: Tensor, row_shapes: Shapes, hidden: Tensor, shapes: Shapes) -> Tensor:
        """Return the layer's output for `rows` (r, d), tokens that attend to `hidden` (t, d)."""
        queries, keys, values = self._projections(hidden).chunk(3, dim=1)
        if rows is not hidden:
            queries, _, _ = self._projections(rows).chunk(3, dim=1)
        runs = zip(
            runs_of(queries, row_shapes),
            runs_of(keys, shapes),
            runs_of(values, shapes),
            strict=True,
        )
        parts = [attend(*run, heads=self._heads, dropout=None) for run in runs]
        first, second = self._norms
        context = self._context(stacked(parts, len(rows)))
        rows = torch.layer_norm(context.add_(rows), *first)
        inner = self._activation(self._inner(rows))
        return torch.layer_norm(self._outer(inner).add_(rows), *second)


class _Ordered:
    """Linear layers of the same input as one."""

    def __init__(self, *parts: Any) -> None:
        self._linear = torch.ops.mkldnn._linear_pointwise.default
        weight = torch.cat([part.weight.detach() for part in parts])
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, LEAST_ROWS)
        self._bias = torch.cat([part.bias.detach() for part in parts])

    def __call__(self, rows: Tensor) -> Tensor:
        """Return the output, new memory."""
        return self._linear(rows, self._weight, self._bias, "none", [], "")
