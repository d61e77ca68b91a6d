"""`.concept` folders of medical_crossing and BioSyn, a file a document.

`id||start|end||type||mention||CUI`, optionally with trailing bars; those made of CodiEsp have its
offsets, `5 11;20 25`. BioSyn has no text, so the offsets count only where a `.txt` lies beside.
"""

import re
from pathlib import Path

from training.corpora.brat import parse_spans
from training.corpora.builder import CorpusBuilder
from training.corpora.text import numbered, read_text

_OFFSETS = re.compile(r"\d+[| ]\d+(;\d+ \d+)*")


def sniff(path: Path, head: str) -> bool:
    """Tell whether a file is i2b2's concepts; see `Form`."""
    return path.suffix == ".concept"


def read(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read the `.concept` files.

    `C1|C2` and `C1, C2` are alternatives, `C1+C2` and composites go together.
    """
    for path in files:
        document = path.relative_to(root).with_suffix("").as_posix()
        text = path.with_suffix(".txt")
        if text.is_file():
            builder.document(document, read_text(text), place=text)
        for number, line in numbered(path):
            place, fields = f"{path}:{number}", line.split("||")
            if len(fields) < 5 or not fields[3].strip():
                builder.skip("malformed line", place)
                continue
            placed = text.is_file() and _OFFSETS.fullmatch(fields[1])
            builder.mention(
                document,
                fields[3],
                re.split(r"[|+,;\s]+", fields[4]),
                place=place,
                spans=parse_spans(fields[1].replace("|", " ")) if placed else (),
                type=fields[2],
                all_of="+" in fields[4] or fields[2] == "CompositeMention",
            )
