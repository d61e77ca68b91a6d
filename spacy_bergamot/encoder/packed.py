"""The forward pass of BERT's family over names laid end to end: no padding, no attention mask.

Linear layers see the tokens of a batch as one matrix; attention takes names of equal length
together. The weights are the Hugging Face module's own, read at every call, never copied.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch.backends import mkldnn
from torch.nn import Linear
from torch.nn.functional import scaled_dot_product_attention

_FAMILIES = ("BertModel", "RobertaModel", "XLMRobertaModel")
_ORDERED = "ordered_weight"
_LINEAR = ("query", "key", "value", "dense")
_LEAST_ROWS = 8

Shapes = list[tuple[int, int]]


def is_packable(model: Any) -> bool:
    """Return whether `embed_packed` computes what the module's own forward pass would.

    So it does for an encoder of a known family with absolute positions and plain linear layers:
    adapters, quantised layers, wrappers and decoders have a forward pass of their own.
    """
    family = type(model)
    if family.__name__ not in _FAMILIES or not family.__module__.startswith("transformers."):
        return False
    config = model.config
    if getattr(config, "is_decoder", False) or getattr(config, "add_cross_attention", False):
        return False
    if getattr(config, "position_embedding_type", "absolute") != "absolute":
        return False
    parts = model.encoder.named_modules()
    return all(type(part) is Linear for name, part in parts if name.endswith(_LINEAR))


def first_position(model: Any) -> int:
    """Return the position of a name's first token: RoBERTa counts from behind the padding's."""
    return 0 if type(model).__name__ == "BertModel" else int(model.embeddings.padding_idx) + 1


def keep_ordered(model: Any) -> None:
    """Keep the weights in the order that oneDNN computes with as well.

    Else it puts them in order at every call, which for one short name takes a quarter of the time.
    They are in memory twice then (85 MB of 12 layers 384 wide in float32). Where the module's own
    change later, those in order are not used any more.

    model: A module for which `is_packable` holds, on whatever device.
    """
    if model.device.type != "cpu" or not mkldnn.is_available():
        return  # a build without oneDNN lacks these operators
    if model.dtype == torch.bfloat16:
        fits = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    else:
        fits = model.dtype == torch.float32
    for name, part in model.encoder.named_modules():
        if fits and name.endswith(_LINEAR):
            ordered = torch.ops.mkldnn._reorder_linear_weight(part.weight.detach(), _LEAST_ROWS)
            setattr(part, _ORDERED, (_state_of(part.weight), ordered))


def _state_of(weight: Tensor) -> tuple[int, int]:
    return weight.data_ptr(), weight._version


def _ordered_weight(part: Linear) -> Tensor | None:
    """Return a layer's weights in oneDNN's order, if they are kept and still the same."""
    state, ordered = getattr(part, _ORDERED, (None, None))
    return ordered if ordered is not None and state == _state_of(part.weight) else None


def embed_packed(model: Any, tokens: Sequence[Sequence[int]], pooling: str) -> Tensor:
    """Return the pooled hidden states of names, float32 (len(tokens), dim), not normalised.

    model: A module for which `is_packable` holds, in evaluation mode.
    tokens: Token ids of every name, none empty; names of equal length are best adjacent.
    pooling (str): "cls" or "mean". The last layer is computed for the first token alone with "cls".
    """
    hidden, shapes = input_packed(model, tokens)
    return encode_packed(model, hidden, shapes, pooling)


def input_packed(model: Any, tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Shapes]:
    """Return the input embeddings of texts on end, as `encode_packed` takes them.

    tokens: Token ids of every text, none empty; texts of equal length are best adjacent.
    """
    ids = [torch.tensor(list(run), device=model.device) for _, run in groupby(tokens, len)]
    shapes = [(len(run), run.shape[1]) for run in ids]
    rows = even_rows(sum(names * length for names, length in shapes), model)
    return _stacked([model.embeddings(input_ids=run).flatten(0, 1) for run in ids], rows), shapes


def even_rows(count: int, model: Any) -> int:
    """Return how many rows a matrix of `count` rows gets: `count`, or one of few numbers.

    oneDNN keeps 0.6 MB for every shape of a matrix that it meets, a thousand of them, and takes
    longer to prepare for a new one than to compute it. Eight sizes between powers of two are few
    enough; a GPU does not mind, and training computes no row in vain.
    """
    if model.device.type != "cpu" or model.training or torch.is_grad_enabled():
        return count
    step = max(_LEAST_ROWS, 1 << max(0, (count - 1).bit_length() - 4))
    return -(-count // step) * step


def _stacked(parts: list[Tensor], rows: int) -> Tensor:
    """Return parts (n, width) on end, followed by zeros up to `rows`."""
    missing = rows - sum(map(len, parts))
    return torch.cat([*parts, parts[0].new_zeros(missing, parts[0].shape[1])] if missing else parts)


def encode_packed(model: Any, hidden: Tensor, shapes: Shapes, pooling: str) -> Tensor:
    """Return the pooled hidden states of names, float32 (names, dim), not normalised.

    Differentiable; in training mode it drops out what the module's own forward pass would.

    model: A module for which `is_packable` holds.
    hidden (float (tokens, dim)): What `model.embeddings` gives of the names, on end; rows after
        the last name's are computed and left out.
    shapes: (names, tokens per name) of every run of names of equal length.
    """
    if pooling == "cls":
        *layers, last = model.encoder.layer
        for layer in layers:
            hidden = _layer(layer, hidden, shapes, hidden, shapes)
        count = sum(names for names, _ in shapes)
        first = _stacked([run[:, 0] for run in _runs(hidden, shapes)], even_rows(count, model))
        pooled = _layer(last, first, [(names, 1) for names, _ in shapes], hidden, shapes)
        return pooled[:count].float()
    hidden = hidden_packed(model, hidden, shapes)
    return torch.cat([run.float().mean(1) for run in _runs(hidden, shapes)])


def hidden_packed(model: Any, hidden: Tensor, shapes: Shapes) -> Tensor:
    """Return the last layer's hidden states (tokens, dim) of texts on end; see `encode_packed`."""
    for layer in model.encoder.layer:
        hidden = _layer(layer, hidden, shapes, hidden, shapes)
    return hidden


def _layer(layer: Any, rows: Tensor, row_shapes: Shapes, hidden: Tensor, shapes: Shapes) -> Tensor:
    """Return a layer's output for `rows` (r, d), tokens that attend to `hidden` (tokens, d).

    Shapes are (names, tokens a name) of every run, names of equal length.
    """
    attention, output = layer.attention.self, layer.attention.output
    runs = zip(
        _runs(_linear(attention.query, rows), row_shapes),
        _runs(_linear(attention.key, hidden), shapes),
        _runs(_linear(attention.value, hidden), shapes),
        strict=True,
    )
    heads, dropout = attention.num_attention_heads, attention.dropout
    context = _stacked([_attend(*run, heads=heads, dropout=dropout) for run in runs], len(rows))
    rows = output.LayerNorm(output.dropout(_linear(output.dense, context)).add_(rows))
    inner = layer.intermediate.intermediate_act_fn(_linear(layer.intermediate.dense, rows))
    output = layer.output
    return output.LayerNorm(output.dropout(_linear(output.dense, inner)).add_(rows))


def _attend(queries: Tensor, keys: Tensor, values: Tensor, *, heads: int, dropout: Any) -> Tensor:
    """Return the values that queries (names, tokens, width) attend to, (names * tokens, width)."""
    query, key, value = (
        part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in (queries, keys, values)
    )
    if dropout.training:
        # torch's fused attention has no dropout on a CPU, and in bfloat16 it takes several times as
        # long for the few names of one length that a training batch has.
        weights = (query @ key.transpose(2, 3) * query.shape[-1] ** -0.5).softmax(-1, query.dtype)
        context = dropout(weights) @ value
    else:
        context = scaled_dot_product_attention(query, key, value)
    return context.transpose(1, 2).flatten(2).flatten(0, 1)


def _linear(part: Linear, rows: Tensor) -> Tensor:
    """Return a linear layer's output, new memory.

    torch gives float32 on CPU to MKL, which leaves AVX-512 unused on AMD's processors; oneDNN, to
    which torch gives bfloat16, uses it and is twice as fast there. Only this operator reaches it.
    """
    plain = rows.device.type == "cpu" and rows.dtype == torch.float32 and mkldnn.is_available()
    # It is not differentiable. A batch's vectors are computed twice with a gradient cache, once
    # without gradients: in training both times by the same kernel.
    differentiated = part.training or torch.is_grad_enabled()
    weight = _ordered_weight(part)
    if weight is None and plain:
        weight = part.weight
    if weight is None or differentiated or torch.is_autocast_enabled("cpu"):
        return part(rows)
    return torch.ops.mkldnn._linear_pointwise(rows, weight, part.bias, "none", [], "")


def _runs(rows: Tensor, shapes: Shapes) -> list[Tensor]:
    """Return views (names, tokens, width) of every run's rows."""
    sizes = [names * length for names, length in shapes]
    parts = rows[: sum(sizes)].split(sizes)
    return [part.view(*shape, -1) for part, shape in zip(parts, shapes, strict=True)]
