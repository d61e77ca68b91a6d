"""The mark of a mention in its context: `a <tgt>mention</tgt> in a text`, as XL-BEL has it."""

OPEN, CLOSE = "<tgt>", "</tgt>"


def marked(text: str, start: int, end: int) -> str:
    """Return a text with the mention from `start` to `end` marked."""
    return f"{text[:start]}{OPEN}{text[start:end]}{CLOSE}{text[end:]}"


def split_marked(text: str) -> list[str]:
    """Return text and marked mentions in turn, without the marks: at odd places are the mentions.

    A mark without an end stays in the text.
    """
    pieces, place = [], 0
    while (start := text.find(OPEN, place)) >= 0:
        end = text.find(CLOSE, start)
        if end < 0:
            break  # and none of the marks that follow has an end
        pieces += [text[place:start], text[start + len(OPEN) : end]]
        place = end + len(CLOSE)
    return [*pieces, text[place:]]
