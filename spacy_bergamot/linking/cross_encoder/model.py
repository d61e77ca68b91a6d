"""PairModel: a language model with one number for a mention and a candidate that it reads together.

A folder of it is a language model's (config.json, tokenizer.json, model.safetensors) with
pair.safetensors, the learned mix in mix/, and manifest.json.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from spacy_bergamot.encoder.device import resolve_precision
from spacy_bergamot.encoder.lm_folder import check_folder, open_model
from spacy_bergamot.encoder.ordered import keep_ordered
from spacy_bergamot.encoder.packed import encode_packed, even_rows, first_position, is_packable
from spacy_bergamot.encoder.runs import stacked
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import length_batches, open_tokenizer
from spacy_bergamot.finder.tagger import PRECISIONS, check_precision
from spacy_bergamot.linking.cross_encoder import KIND
from spacy_bergamot.linking.cross_encoder.texts import MARKS, Line, Separators
from spacy_bergamot.linking.errors import BergamotError, Errors

_PAIR = "pair.safetensors"
_WHOLE = 1 << 31  # no text is cut off by the tokenizer
_FROZEN = "lm."


class PairModel(nn.Module):
    """One number, the logit, for every line.

    lm (torch.nn.Module): A Hugging Face encoder.
    tokenizer (tokenizers.Tokenizer): Its tokenizer, without truncation.
    pooling (str): "cls" or "mean": what its hidden states are reduced by. Best is what it was
        trained with: the first token of others says little until it has learned much.
    """

    def __init__(self, lm: Any, tokenizer: Any, pooling: str) -> None:
        super().__init__()
        self.pooling = pooling
        self.lm = lm
        self.tokenizer = tokenizer
        width = lm.config.hidden_size
        self.marks = nn.Embedding(len(MARKS), width)
        nn.init.normal_(self.marks.weight, std=lm.config.initializer_range)
        self.dropout = nn.Dropout(lm.config.hidden_dropout_prob)
        self.head = nn.Linear(width, 1)
        kinds = getattr(lm.config, "type_vocab_size", 1)
        self._kind = min(Separators.of(tokenizer).kind, kinds - 1)
        self._first_mark = tokenizer.get_vocab_size()
        self.longest = lm.config.max_position_embeddings - first_position(lm)

    @classmethod
    def begin(cls, folder: Path) -> "PairModel":
        """Return an untrained one.

        folder (Path): Of a language model.
        """
        check_folder(folder)
        lm = open_model(folder, use_safetensors=True)
        pooling = EncoderSettings.read(folder).pooling
        return cls(lm.float(), open_tokenizer(folder, _WHOLE), pooling)

    @classmethod
    def open(cls, folder: Path, *, device: str = "cpu", precision: str = "fp32") -> "PairModel":
        """Open a trained one.

        folder (Path): That `save` wrote.
        device (str): torch device. precision (str): "fp32", "bf16" or "auto".
        RAISES (BergamotError): B014 for a precision, B149 for a file that does not fit.
        """
        check_precision(precision)
        model = cls.begin(folder)
        try:
            own = load_file(folder / _PAIR)
            model.load_state_dict(own | _of_lm(model), strict=True)
        except (OSError, SafetensorError, RuntimeError) as reason:
            raise BergamotError(
                Errors.B149, path=folder / _PAIR, command=KIND, reason=reason
            ) from None
        model.to(device=device, dtype=PRECISIONS[resolve_precision(precision, device)])
        model.eval().requires_grad_(False)
        if is_packable(model.lm):
            keep_ordered(model.lm)
        return model

    def save(self, folder: Path) -> None:
        """Write its files, the language model in half precision.

        folder (Path): Where they go.
        """
        weights = {name: value.half() for name, value in self.lm.state_dict().items()}
        self.lm.save_pretrained(folder, state_dict=weights, safe_serialization=True)
        self.tokenizer.save(str(folder / "tokenizer.json"))
        EncoderSettings(pooling=self.pooling).write(folder)
        own = {n: v for n, v in self.state_dict().items() if not n.startswith(_FROZEN)}
        save_file(own, folder / _PAIR)

    def forward(self, lines: Sequence[Line]) -> Tensor:
        """Return the logits of lines, float32 (n,); lines of equal length are best adjacent."""
        runs = [list(run) for _, run in groupby(lines, lambda line: len(line.ids))]
        if is_packable(self.lm):
            parts = [self.lm.embeddings(**self._embedded(run)).flatten(0, 1) for run in runs]
            shapes = [(len(run), len(run[0].ids)) for run in runs]
            rows = even_rows(sum(map(len, parts)), self.lm)
            pooled = encode_packed(self.lm, stacked(parts, rows), shapes, self.pooling)
        else:
            states = [self.lm(**self._embedded(run)).last_hidden_state for run in runs]
            pooled = torch.cat([s[:, 0] if self.pooling == "cls" else s.mean(1) for s in states])
        return self.head(self.dropout(pooled.to(self.head.weight.dtype))).float().squeeze(-1)

    def _embedded(self, run: Sequence[Line]) -> dict[str, Tensor]:
        """Return what stands for the words of lines of one length, and their token types."""
        ids = torch.tensor([line.ids for line in run], device=self.lm.device)
        marks = ids - self._first_mark
        words = self.lm.get_input_embeddings()(ids.where(marks < 0, 0))
        words = self.marks(marks.clamp(min=0)).where((marks >= 0).unsqueeze(-1), words)
        if not self._kind:
            return {"inputs_embeds": words}
        seconds = torch.tensor([line.second for line in run], device=ids.device)
        places = torch.arange(ids.shape[1], device=ids.device)
        return {
            "inputs_embeds": words,
            "token_type_ids": (places >= seconds.unsqueeze(1)).long() * self._kind,
        }

    def logits(self, lines: Sequence[Line], *, batch_tokens: int = 4096) -> list[float]:
        """Return the logits of any number of lines, in their order.

        lines (Sequence[Line]): In any order.
        batch_tokens (int): Tokens per forward pass.
        """
        found = [0.0] * len(lines)
        with torch.inference_mode():
            for rows in length_batches([len(line.ids) for line in lines], batch_tokens):
                values = self([lines[row] for row in rows])
                for row, value in zip(rows.tolist(), values.tolist(), strict=True):
                    found[row] = value
        return found


def _of_lm(model: PairModel) -> dict[str, Tensor]:
    return {n: v for n, v in model.state_dict().items() if n.startswith(_FROZEN)}
