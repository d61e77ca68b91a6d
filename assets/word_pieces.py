"""Make spacy_bergamot/mentions/word_pieces.txt.xz from the tokenizer of XLM-R, or of a model of it.

python assets/word_pieces.py TOKENIZER.json
"""

import json
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path

from spacy_bergamot.folding import plain_word
from spacy_bergamot.mentions.usual import LEAST, MOST
from spacy_bergamot.scripts import lacks_spaces

TARGET = Path(__file__).parents[1] / "spacy_bergamot/mentions/word_pieces.txt.xz"


def main(tokenizer: Path) -> None:
    pieces = [piece for piece, _ in json.loads(tokenizer.read_text("utf8"))["model"]["vocab"]]
    begin = words(piece[1:] for piece in pieces if piece.startswith("▁"))
    end = words(piece for piece in pieces if not piece.startswith("▁"))
    begin = [word for word in begin if len(word) >= LEAST]
    end = [word for word in end if len(word) <= MOST]
    text = "\n".join(begin) + "\n\n" + "\n".join(end)
    TARGET.write_bytes(lzma.compress(text.encode(), preset=9))


def words(pieces: Iterable[str]) -> list[str]:
    """Return the pieces that are letters of scripts with spaces, in normal form."""
    return sorted({plain_word(p) for p in pieces if p.isalpha() and not lacks_spaces(p)})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
