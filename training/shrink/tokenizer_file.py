"""tokenizer.json as data: the pieces of a vocabulary, and the same tokenizer with fewer of them.

Unigram (XLM-R, mT5) and WordPiece (BERT) can lose pieces: they cut a word into whatever pieces
there are, so that smaller ones take a lost one's place. Byte-pair encoding makes pieces out of
pieces by its merges, and would need those that others are made of.
"""

import copy
import json
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.encoder.text_encoder import open_tokenizer
from training.errors import BergamotError, Errors

NAME = "tokenizer.json"
KINDS = ("Unigram", "WordPiece")
_ADDED = "added_tokens_decoder"
_CONFIG = "tokenizer_config.json"
_SPECIAL = "special_tokens_map.json"
_POST_PROCESSORS = ("BertProcessing", "RobertaProcessing", "ByteLevel")
_SPACE = "▁"

NewId = Callable[[int], int]


class TokenizerFile:
    """What tokenizer.json says.

    kind (str): Its model, such as "Unigram".
    pieces (dict[int, str]): Every piece by its id, as it is written; added tokens too.
    special (set[int]): Ids of added tokens, of the unknown one and of those put around a text.
    """

    def __init__(self, path: Path, data: dict[str, Any]) -> None:
        self.path = path
        self.data = data
        self.model: dict[str, Any] = data["model"]
        self.kind = str(self.model.get("type"))
        vocabulary = self.model.get("vocab", [])
        if isinstance(vocabulary, list):
            vocabulary = {entry[0]: row for row, entry in enumerate(vocabulary)}
        self.pieces: dict[int, str] = {row: piece for piece, row in vocabulary.items()}
        self.vocabulary = frozenset(self.pieces)
        self.pieces |= {entry["id"]: entry["content"] for entry in data["added_tokens"]}
        self.special: set[int] = set()

    @classmethod
    def read(cls, folder: Path) -> "TokenizerFile":
        """Read the tokenizer of a language model. RAISES (BergamotError): B002 if it is none."""
        open_tokenizer(folder, 1)
        path = folder / NAME
        return cls(path, json.loads(path.read_text(encoding="utf8")))

    def check_rows(self, rows: int) -> None:
        """Raise T233 if a model with word embeddings of `rows` pieces lacks one."""
        largest = max(self.pieces)
        if largest >= rows:
            raise BergamotError(Errors.T233, path=self.path, largest=largest, rows=rows)

    def note_special(self, more: Collection[int]) -> None:
        """Set `special`, with the ids among `more` that are there.

        RAISES (BergamotError): T232 if this is no kind of tokenizer that can lose pieces.
        """
        if self.kind not in KINDS:
            raise self._unsuitable(f"model '{self.kind}'", KINDS)
        special = self.pieces.keys() & set(more)

        def note(row: int) -> int:
            special.add(row)
            return row

        self._renumbered(note)
        self.special = special
        if "unk_token" in self.model:
            self.special |= {r for r, p in self.pieces.items() if p == self.model["unk_token"]}

    def text(self, row: int) -> str:
        """Return what a piece stands for, without marks of where in a word; "▁" is a space."""
        piece = self.pieces[row]
        if self.kind == "Unigram":
            return piece.replace(_SPACE, " ").strip()
        return piece.removeprefix(self._prefix)

    def forms(self, character: str) -> tuple[str, ...]:
        """Return the pieces that a character by itself can become, in or at the start of a word."""
        return (character,) if self.kind == "Unigram" else (character, self._prefix + character)

    @property
    def _prefix(self) -> str:
        return str(self.model.get("continuing_subword_prefix", "##"))

    def ranks(self) -> np.ndarray:
        """Return how improbable pieces are in general, float64 (ids,).

        Unigram has log probabilities; WordPiece's vocabularies are in order of frequency.
        """
        ranks = np.arange(max(self.pieces) + 1, dtype=np.float64)
        if self.kind == "Unigram":
            scores = [-score for _, score in self.model["vocab"]]
            ranks[: len(scores)] = scores
        return ranks

    def cut(self, kept: np.ndarray) -> dict[str, Any]:
        """Return the file with some of its pieces, numbered anew in their old order.

        kept (int64 (m,)): Ids of pieces, ascending; those in `special` are among them.
        """
        new = {int(row): number for number, row in enumerate(kept)}
        data = self._renumbered(new.__getitem__)
        rows = [row for row in new if row in self.vocabulary]
        if self.kind == "Unigram":
            data["model"]["vocab"] = [self.model["vocab"][row] for row in rows]
        else:
            data["model"]["vocab"] = {self.pieces[row]: new[row] for row in rows}
        return data

    def _renumbered(self, new: NewId) -> dict[str, Any]:
        """Return the file without its vocabulary, every id in it replaced."""
        model = {key: value for key, value in self.model.items() if key != "vocab"}
        data = copy.deepcopy({**self.data, "model": model})
        for entry in data["added_tokens"]:
            entry["id"] = new(entry["id"])
        if data.get("padding"):
            data["padding"]["pad_id"] = new(data["padding"]["pad_id"])
        if model.get("unk_id") is not None:
            data["model"]["unk_id"] = new(model["unk_id"])
        if data.get("post_processor"):
            self._renumber(data["post_processor"], new)
        return data

    def _renumber(self, processor: dict[str, Any], new: NewId) -> None:
        """Replace the ids in a post-processor, in place."""
        kind = processor["type"]
        if kind == "Sequence":
            for part in processor["processors"]:
                self._renumber(part, new)
        elif kind == "TemplateProcessing":
            for token in processor["special_tokens"].values():
                token["ids"] = [new(row) for row in token["ids"]]
        elif kind in _POST_PROCESSORS:
            for key in {"sep", "cls"} & processor.keys():
                processor[key][1] = new(processor[key][1])
        else:
            known = ("Sequence", "TemplateProcessing", *_POST_PROCESSORS)
            raise self._unsuitable(f"post-processor '{kind}'", known)

    def _unsuitable(self, found: str, known: Collection[str]) -> BergamotError:
        return BergamotError(Errors.T232, path=self.path, found=found, choices=", ".join(known))


def write_tokenizer(file: TokenizerFile, folder: Path, *, kept: np.ndarray | None) -> None:
    """Write a tokenizer's files, without indentation: it is half of a vocabulary's bytes.

    kept (int64 (m,) | None): Ids of the pieces that stay; None for all, with their numbers.
    """
    write_json(folder / NAME, file.data if kept is None else file.cut(kept))
    source = file.path.parent
    if (source / _CONFIG).is_file():
        config = json.loads((source / _CONFIG).read_text(encoding="utf8"))
        if kept is not None and _ADDED in config:
            new = {str(row): str(number) for number, row in enumerate(kept)}
            config[_ADDED] = {new[k]: token for k, token in config[_ADDED].items() if k in new}
        write_json(folder / _CONFIG, config)
    if (source / _SPECIAL).is_file():
        shutil.copyfile(source / _SPECIAL, folder / _SPECIAL)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a tokenizer's file without white space, in UTF-8.

    path (Path): The file.
    data (Mapping[str, Any]): Its content.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf8")
