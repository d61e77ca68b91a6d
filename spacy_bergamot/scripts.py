"""Scripts: which write no spaces between words, and how much a letter says."""

import re

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI = "\u0e01-\u0e4f"
_PUNCTUATION = (  # wide, so that tokenizers which know spaces only leave it inside of tokens
    "\u3001-\u3004\u3008-\u3020\u3030\u303d\u30a0\u30fb\ufe30-\ufe4f"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
UNSPACED = f"{_HAN}{_HIRAGANA}{KATAKANA}{_THAI}"
MARKS = "\u0300-\u036f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
JOINERS = "\u200c\u200d"
HANGUL = re.compile("[\uac00-\ud7a3]")
_NEEDS_PARTS = re.compile(f"[{UNSPACED}{_PUNCTUATION}]")


def lacks_spaces(text: str) -> bool:
    """Tell whether a text has a script without spaces, or its punctuation, so that it has parts.

    text (str): Any text.
    """
    return not text.isascii() and _NEEDS_PARTS.search(text) is not None


def letters(word: str) -> int:
    """Return how many letters a word has; a Korean syllable counts as two, of two or three.

    word (str): Any word.
    """
    return len(word) + (0 if word.isascii() else len(HANGUL.findall(word)))
