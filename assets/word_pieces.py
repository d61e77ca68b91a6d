"""Make spacy_bergamot/mentions/word_pieces.txt.xz from the tokenizer of XLM-R, or of a model of it.

python assets/word_pieces.py TOKENIZER.json
"""

import json
import lzma
import sys
from pathlib import Path

from spacy_bergamot.folding import plain_word
from spacy_bergamot.mentions.units import lacks_spaces
from spacy_bergamot.mentions.usual import LEAST

TARGET = Path(__file__).parents[1] / "spacy_bergamot/mentions/word_pieces.txt.xz"


def main(tokenizer: Path) -> None:
    pieces = [piece for piece, _ in json.loads(tokenizer.read_text("utf8"))["model"]["vocab"]]
    begin = {plain_word(piece[1:]) for piece in pieces if piece.startswith("▁")}
    go_on = {plain_word(piece) for piece in pieces if not piece.startswith("▁")}
    kept = ({word for word in of if word.isalpha() and not lacks_spaces(word)} for of in (begin, go_on))
    begin, go_on = kept
    parts = [sorted(word for word in begin if len(word) >= LEAST), sorted(go_on)]
    text = "\n\n".join("\n".join(part) for part in parts)
    TARGET.write_bytes(lzma.compress(text.encode(), preset=9))
    print(*map(len, parts), TARGET.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
