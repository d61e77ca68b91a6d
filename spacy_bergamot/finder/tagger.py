"""Tagger: a language model with a linear layer that says of every unit whether it is in a mention.

A folder of it is a language model's (config.json, tokenizer.json, model.safetensors) with
head.safetensors and manifest.json, which has the labels.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from spacy_bergamot.encoder.device import AUTO, resolve_device, resolve_precision
from spacy_bergamot.encoder.lm_folder import check_folder, open_model
from spacy_bergamot.encoder.ordered import keep_ordered
from spacy_bergamot.encoder.packed import first_position, hidden_packed, input_packed, is_packable
from spacy_bergamot.encoder.padded import length_batches, pad_tokens
from spacy_bergamot.encoder.text_encoder import open_tokenizer
from spacy_bergamot.errors import BergamotError, Errors, check_choice
from spacy_bergamot.finder.pieces import Pieces, Window, windows_of
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest

KIND = "mention-finder"
VERSION = 1
HEAD = "head.safetensors"
OUTSIDE = "O"
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}
_FIELDS = {"labels": list}
_SIZE, _CONTEXT = 256, 32  # pieces of a window
_LONGEST = 1 << 31  # a document's text is not cut off


def check_precision(precision: str) -> None:
    """Raise B014 for a precision that a finder cannot have.

    precision (str): As in a config.
    """
    check_choice("precision", precision, (*PRECISIONS, AUTO))


def tags_of(labels: Sequence[str]) -> list[str]:
    """Return the tags of labels: outside, and for every label begin and inside (BIO).

    labels (Sequence[str]): Of mentions.
    """
    return [OUTSIDE, *(f"{place}-{label}" for label in labels for place in "BI")]


class Tagger(nn.Module):
    """Scores of tags by piece.

    lm (torch.nn.Module): A Hugging Face encoder.
    tokenizer (tokenizers.Tokenizer): Its tokenizer, without truncation.
    labels (Sequence[str]): Of mentions.
    longest (int): Pieces that the language model can read at once.
    """

    def __init__(self, lm: Any, tokenizer: Any, labels: Sequence[str]) -> None:
        super().__init__()
        self.lm = lm
        self.tokenizer = tokenizer
        self.labels = list(labels)
        self.head = nn.Linear(lm.config.hidden_size, len(tags_of(labels)))
        empty = tokenizer.encode("").ids
        self._before, self._behind = empty[: len(empty) // 2], empty[len(empty) // 2 :]
        positions = lm.config.max_position_embeddings - first_position(lm)
        self.longest = positions - len(empty)

    @classmethod
    def begin(cls, folder: Path, labels: Sequence[str]) -> "Tagger":
        """Return an untrained tagger from a language model's folder.

        folder (Path): Of the language model.
        labels (Sequence[str]): Of mentions.
        """
        check_folder(folder)
        lm = open_model(folder, use_safetensors=True)
        return cls(lm.float(), open_tokenizer(folder, _LONGEST), labels)

    @classmethod
    def open(
        cls, folder: Path, *, device: str = "cpu", precision: str = "fp32", verify: bool = True
    ) -> "Tagger":
        """Open a trained tagger.

        folder (Path): That `save` wrote.
        device (str): torch device, or "auto".
        precision (str): "fp32", "bf16" or "auto".
        verify (bool): Compare its files with the manifest.
        RAISES (BergamotError): B014 for another precision; if a file is missing, changed or
            unreadable.
        """
        check_precision(precision)
        manifest = read_manifest(
            folder, kind=KIND, version=VERSION, fields=_FIELDS, checksums=verify
        )
        tagger = cls.begin(folder, manifest["labels"])
        try:
            tagger.head.load_state_dict(load_file(folder / HEAD))
        except (SafetensorError, RuntimeError) as reason:
            raise BergamotError(
                Errors.B002, path=folder / HEAD, what="a finder's weights", reason=reason
            ) from None
        device = resolve_device(device)
        tagger.to(device=device, dtype=PRECISIONS[resolve_precision(precision, device)])
        tagger.eval().requires_grad_(False)
        if is_packable(tagger.lm):
            keep_ordered(tagger.lm)
        return tagger

    def save(self, folder: Path, *, dtype: torch.dtype = torch.float16, **facts: Any) -> None:
        """Save it, whole or not at all.

        folder (Path): Is made, or replaced if it has a manifest.
        dtype (torch.dtype): Of the weights on disk.
        facts (Any): More for the manifest.
        """
        with atomic_folder(folder) as target:
            weights = {name: value.to(dtype) for name, value in self.lm.state_dict().items()}
            self.lm.save_pretrained(target, state_dict=weights, safe_serialization=True)
            self.tokenizer.save(str(target / "tokenizer.json"))
            save_file(self.head.state_dict(), target / HEAD)
            write_manifest(target, kind=KIND, version=VERSION, labels=self.labels, **facts)

    def forward(self, windows: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return the scores of tags of every window's pieces, float32 (pieces, tags) each.

        windows: Ids of pieces; windows of equal length are best adjacent.
        """
        tokens = [[*self._before, *window, *self._behind] for window in windows]
        lengths = [len(window) for window in tokens]
        if is_packable(self.lm):
            hidden = hidden_packed(self.lm, *input_packed(self.lm, tokens))[: sum(lengths)]
        else:
            ids, mask = pad_tokens(tokens, self.lm.config.pad_token_id or 0)
            ids, mask = ids.to(self.lm.device), mask.to(self.lm.device)
            hidden = self.lm(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]
        scores = self.head(hidden).float().split(lengths)
        skipped, left = len(self._before), len(self._behind)
        return [of[skipped : len(of) - left] for of in scores]

    def windows(self, document: Pieces, *, size: int, context: int) -> list[Window]:
        """Return the windows of a document, as `windows_of`; none is too long to be read.

        document (Pieces): Of a document.
        size (int): Pieces of a window at most.
        context (int): Pieces on either side of those that it decides on.
        """
        size = min(size, self.longest)
        return list(windows_of(document, size=size, context=min(context, size // 4)))

    def log_probabilities(
        self, documents: Sequence[Pieces], *, batch_pieces: int = 4096
    ) -> list[np.ndarray]:
        """Return the log probabilities of tags of every document's units, float32 (units, tags).

        documents (Sequence[Pieces]): Of every document.
        batch_pieces (int): Pieces per forward pass.
        """
        found = [
            np.zeros((len(document.firsts), self.head.out_features), dtype=np.float32)
            for document in documents
        ]
        windows: list[tuple[int, Window]] = [
            (number, window)
            for number, document in enumerate(documents)
            for window in self.windows(document, size=_SIZE, context=_CONTEXT)
        ]
        lengths = [window.pieces.stop - window.pieces.start for _, window in windows]
        for rows in length_batches(lengths, batch_pieces):
            batch = [windows[row] for row in rows]
            with torch.inference_mode():
                scores = self([documents[n].ids[window.pieces].tolist() for n, window in batch])
            for (number, window), of in zip(batch, scores, strict=True):
                firsts = documents[number].firsts[window.units] - window.pieces.start
                chosen = of[torch.from_numpy(firsts)].log_softmax(-1)
                found[number][window.units] = chosen.cpu().numpy()
        return found
