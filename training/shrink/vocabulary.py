"""Which pieces of a vocabulary stay, and by what."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.text import normalize
from training.errors import BergamotError, Errors, check_choice
from training.shrink.sources import line_batches, name_batches
from training.shrink.tokenizer_file import TokenizerFile

VOCABULARIES = ("keep", "reachable", "cut")
_UNUSED = re.compile(r"\[unused\d+\]")
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


@dataclass(frozen=True)
class Vocabulary:
    """How much of a vocabulary stays.

    kind (str): "keep" all; "reachable", all but the pieces that no name in normal form has, those
        with capitals; "cut", what `names` and `texts` use, and every character by itself.
    names (Path | None): A concept table. texts (Sequence[Path]): Text files, or folders of them.
    scripts (Sequence[str]): Scripts whose pieces all stay, such as "thai", for languages of which
        there is neither name nor text; as Unicode's names of letters begin.
    size (int | None): Pieces of a cut vocabulary, see `choose_pieces`.
    RAISES (BergamotError): B014 for an unknown kind, T231 unless names or texts come with a cut.
    """

    kind: str = "keep"
    names: Path | None = None
    texts: Sequence[Path] = ()
    scripts: Sequence[str] = ()
    size: int | None = None

    def __post_init__(self) -> None:
        check_choice("vocabulary", self.kind, VOCABULARIES)
        used = self.names is not None or bool(self.texts)
        if used != (self.kind == "cut") or ((self.scripts or self.size is not None) and not used):
            raise BergamotError(Errors.T231, value=self.kind)

    def kept(self, file: TokenizerFile, tokenizer: Any, *, lowercase: bool) -> np.ndarray:
        """Return the ids of the pieces that stay, int64 (m,), ascending, unless all are kept.

        tokenizer (tokenizers.Tokenizer): What the file says.
        lowercase (bool): Names are folded to their normal form before they are encoded.
        """
        possible = reachable(file, lowercase=lowercase)
        fixed = needed(file)
        if self.kind == "reachable":
            return np.union1d(fixed, possible)
        counts = np.zeros(max(file.pieces) + 1, dtype=np.int64)
        batches = [name_batches(self.names)] if self.names else []
        batches += map(line_batches, self.texts)
        count_pieces(tokenizer, chain(*batches), counts, lowercase=lowercase)
        for script in self.scripts:
            fixed = np.union1d(fixed, np.intersect1d(of_script(file, script), possible))
        return choose_pieces(file.ranks(), counts, fixed=fixed, possible=possible, size=self.size)


def count_pieces(
    tokenizer: Any, batches: Iterable[Sequence[str]], counts: np.ndarray, *, lowercase: bool
) -> None:
    """Add how often texts use every piece to `counts`, int64 (ids,).

    tokenizer (tokenizers.Tokenizer): Used without truncation: how a long word ends can decide the
        pieces that it begins with.
    """
    tokenizer.no_truncation()
    for batch in batches:
        texts = [normalize(text) for text in batch] if lowercase else list(batch)
        for encoding in tokenizer.encode_batch_fast(texts):
            np.add.at(counts, encoding.ids, 1)


def choose_pieces(
    ranks: np.ndarray,
    counts: np.ndarray,
    *,
    fixed: np.ndarray,
    possible: np.ndarray,
    size: int | None,
) -> np.ndarray:
    """Return the ids that stay, int64 (m,), ascending: what is fixed, and what is used.

    ranks (float64 (ids,)): How improbable pieces are in general.
    counts (int64 (ids,)): How often names and texts use them.
    fixed, possible (int64): Ids that must stay, and that names can have.
    size (int | None): Pieces in all: first those used most, then those not used that are the most
        probable. None keeps what is used and nothing else.
    RAISES (BergamotError): T234 if size is less than what is fixed.
    """
    if size is not None and size < len(fixed):
        raise BergamotError(Errors.T234, size=size, least=len(fixed))
    others = np.setdiff1d(np.union1d(possible, np.flatnonzero(counts)), fixed)
    order = others[np.lexsort((others, ranks[others], -counts[others]))]
    used = np.count_nonzero(counts[order])
    return np.union1d(fixed, order[: used if size is None else size - len(fixed)])


def needed(file: TokenizerFile) -> np.ndarray:
    """Return the ids that no cut may lose, int64 (m,), ascending.

    They are the special tokens, every character by itself, and the pieces with a character that
    is no piece by itself: what had no unknown piece before has none afterwards.
    """
    others = file.pieces.keys() - file.special
    texts = {row: file.text(row) for row in others if not _UNUSED.fullmatch(file.pieces[row])}
    rows = {file.pieces[row]: row for row in texts}
    characters = {c for text in texts.values() for c in text if not c.isspace()}
    forms = {c: file.forms(c) for c in characters}
    alone = {c for c in characters if all(form in rows for form in forms[c])} | {" "}
    kept = {rows[form] for c in characters for form in forms[c] if form in rows}
    kept |= {row for row, text in texts.items() if not text or not alone.issuperset(text)}
    kept |= {row for piece, row in rows.items() if _BYTE.fullmatch(piece)}
    return np.array(sorted(kept | file.special), dtype=np.int64)


def reachable(file: TokenizerFile, *, lowercase: bool) -> np.ndarray:
    """Return the ids of pieces that a name can have, int64 (m,), ascending.

    lowercase (bool): Names are in normal form, so that pieces with capitals are in none.
    """
    texts = {row: file.text(row) for row, p in file.pieces.items() if not _UNUSED.fullmatch(p)}
    rows = [row for row, text in texts.items() if not lowercase or normalize(text) == text]
    return np.array(sorted(rows), dtype=np.int64)


def of_script(file: TokenizerFile, script: str) -> np.ndarray:
    """Return the ids of pieces with a letter of a script, int64 (m,).

    RAISES (BergamotError): B014 if there are none.
    """
    letters = {c for row in file.pieces for c in file.text(row) if c.isalpha()}
    scripts = {c: unicodedata.name(c, "?").partition(" ")[0].lower() for c in letters}
    chosen = {c for c in letters if scripts[c] == script.lower()}
    if not chosen:
        choices = ", ".join(sorted(set(scripts.values()) - {"?"}))
        raise BergamotError(Errors.B014, what="script", value=script, choices=choices)
    rows = [row for row in file.pieces if not chosen.isdisjoint(file.text(row))]
    return np.array(rows, dtype=np.int64)
