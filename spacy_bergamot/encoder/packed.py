"""The forward pass of BERT's family over names laid end to end: no padding, no attention mask.

Linear layers see the tokens of a batch as one matrix; attention takes names of equal length
together. The weights are the Hugging Face module's own, read at every call; where they stand still,
`spacy_bergamot.encoder.ordered` has them in a faster form.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch.backends import mkldnn
from torch.nn import Linear

from spacy_bergamot.encoder.ordered import LEAST_ROWS, ordered_layers
from spacy_bergamot.encoder.runs import Shapes, attend, runs_of, stacked

_FAMILIES = ("BertModel", "RobertaModel", "XLMRobertaModel")
_LINEAR = ("query", "key", "value", "dense")


def is_packable(model: Any) -> bool:
    """Return whether `embed_packed` computes what the module's own forward pass would.

    So it does for an encoder of a known family with absolute positions and plain linear layers:
    adapters, quantised layers, wrappers and decoders have a forward pass of their own.

    model: A Hugging Face module, or anything else.
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
    """Return the position of a name's first token: RoBERTa counts from behind the padding's.

    model: A module for which `is_packable` holds.
    """
    return 0 if type(model).__name__ == "BertModel" else int(model.embeddings.padding_idx) + 1


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

    model: A module for which `is_packable` holds.
    tokens: Token ids of every text, none empty; texts of equal length are best adjacent.
    """
    ids = [torch.tensor(list(run), device=model.device) for _, run in groupby(tokens, len)]
    shapes = [(len(run), run.shape[1]) for run in ids]
    rows = even_rows(sum(names * length for names, length in shapes), model)
    return stacked([model.embeddings(input_ids=run).flatten(0, 1) for run in ids], rows), shapes


def even_rows(count: int, model: Any) -> int:
    """Return how many rows a matrix of `count` rows gets: `count`, or one of few numbers.

    oneDNN keeps 0.6 MB for every shape of a matrix that it meets, a thousand of them, and takes
    longer to prepare for a new one than to compute it. Eight sizes between powers of two are few
    enough; a GPU does not mind, and training computes no row in vain.

    count (int): Rows that are needed.
    model: A module for which `is_packable` holds.
    """
    if model.device.type != "cpu" or model.training or torch.is_grad_enabled():
        return count
    step = max(LEAST_ROWS, 1 << max(0, (count - 1).bit_length() - 4))
    return -(-count // step) * step


def encode_packed(model: Any, hidden: Tensor, shapes: Shapes, pooling: str) -> Tensor:
    """Return the pooled hidden states of names, float32 (names, dim), not normalised.

    Differentiable; in training mode it drops out what the module's own forward pass would.

    pooling (str): "cls" or "mean".
    model: A module for which `is_packable` holds.
    hidden (float (tokens, dim)): What `model.embeddings` gives of the names, on end; rows after
        the last name's are computed and left out.
    shapes: (names, tokens per name) of every run of names of equal length.
    """
    if pooling == "cls":
        *layers, last = _layers(model)
        for layer in layers:
            hidden = layer(hidden, shapes, hidden, shapes)
        count = sum(names for names, _ in shapes)
        first = stacked([run[:, 0] for run in runs_of(hidden, shapes)], even_rows(count, model))
        pooled = last(first, [(names, 1) for names, _ in shapes], hidden, shapes)
        return pooled[:count].float()
    hidden = hidden_packed(model, hidden, shapes)
    return torch.cat([run.float().mean(1) for run in runs_of(hidden, shapes)])


def hidden_packed(model: Any, hidden: Tensor, shapes: Shapes) -> Tensor:
    """Return the last layer's hidden states (tokens, dim) of texts on end; see `encode_packed`."""
    for layer in _layers(model):
        hidden = layer(hidden, shapes, hidden, shapes)
    return hidden


def _layers(model: Any) -> Sequence[Callable[[Tensor, Shapes, Tensor, Shapes], Tensor]]:
    """Return the layers in the fastest form that computes what is asked for."""
    return ordered_layers(model) or [partial(_layer, layer) for layer in model.encoder.layer]


def _layer(layer: Any, rows: Tensor, row_shapes: Shapes, hidden: Tensor, shapes: Shapes) -> Tensor:
    """Return a layer's output for `rows` (r, d), tokens that attend to `hidden` (tokens, d).

    Shapes are (names, tokens per name) of every run, names of equal length.
    """
    attention, output = layer.attention.self, layer.attention.output
    runs = zip(
        runs_of(_linear(attention.query, rows), row_shapes),
        runs_of(_linear(attention.key, hidden), shapes),
        runs_of(_linear(attention.value, hidden), shapes),
        strict=True,
    )
    heads, dropout = attention.num_attention_heads, attention.dropout
    context = stacked([attend(*run, heads=heads, dropout=dropout) for run in runs], len(rows))
    rows = output.LayerNorm(output.dropout(_linear(output.dense, context)).add_(rows))
    inner = layer.intermediate.intermediate_act_fn(_linear(layer.intermediate.dense, rows))
    output = layer.output
    return output.LayerNorm(output.dropout(_linear(output.dense, inner)).add_(rows))


def _linear(part: Linear, rows: Tensor) -> Tensor:
    """Return a linear layer's output, new memory.

    torch gives float32 on CPU to MKL, which leaves AVX-512 unused on AMD's processors; oneDNN, to
    which torch gives bfloat16, uses it and is twice as fast there. Only this operator reaches it.
    """
    # It is not differentiable. A batch's vectors are computed twice with a gradient cache, once
    # without gradients: in training both times by the same kernel.
    differentiated = part.training or torch.is_grad_enabled()
    plain = rows.device.type == "cpu" and rows.dtype == torch.float32 and mkldnn.is_available()
    if differentiated or not plain or torch.is_autocast_enabled("cpu"):
        return part(rows)
    return torch.ops.mkldnn._linear_pointwise(rows, part.weight, part.bias, "none", [], "")
