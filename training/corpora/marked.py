r"""Texts in which people mark mentions by hand: `[Schmerzen im Unterbauch|lower abdominal pain]`.

A line is a language, a tab and a text, in which `\n` is a line break. In brackets stand the words
of a mention, a bar, and its concept: an id, a code of a vocabulary, or an English name of it, of
which `python -m training corpus --concepts` makes ids; several, by bars, are alternatives. A
semantic group (`GROUP_NAMES`) before them is the mention's type: `[Hb|PROC|hemoglobin]`.
"""

import re
from pathlib import Path
from typing import NamedTuple

from spacy_bergamot.kb.semantic_types import GROUP_NAMES
from spacy_bergamot.languages import NAMES, lat
from training.corpora.builder import CorpusBuilder
from training.corpora.text import numbered

_MARK = re.compile(r"\[(\S(?:[^\[\]|]*\S)?)\|([^\[\]]+)\]")
_FIRST = re.compile(r"[A-Za-z]{2,3}\t[^\n]*\[[^\[\]|\n]+\|[^\[\]\n]+\]")


class Mark(NamedTuple):
    """Characters of a mention in the text without marks, its ids or names, and its group."""

    start: int
    end: int
    concepts: list[str]
    type: str = ""


def sniff(path: Path, head: str) -> bool:
    """Tell whether a file has marked texts; see `Form`."""
    return path.suffix == ".tsv" and _FIRST.match(head) is not None


def read(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read marked texts; a document is called by its file and line.

    A line without a known language, or with a bracket that is no mark, is left out and counted.
    """
    for path in files:
        for number, line in numbered(path):
            place = f"{path}:{number}"
            language, _, marked = line.partition("\t")
            text, marks = unmarked(marked.replace(r"\n", "\n"))
            if lat(language) not in NAMES:
                builder.skip("line without language and tab", place)
            elif "[" in text or "]" in text:
                builder.skip("line with a bracket that is no mark", place)
            else:
                document = f"{path.name.partition('.')[0]}-{number}"
                builder.document(document, text, language=lat(language), place=place)
                for mark in marks:
                    builder.mention(
                        document,
                        None,
                        mark.concepts,
                        place=place,
                        spans=[(mark.start, mark.end)],
                        type=mark.type,
                    )


def unmarked(marked: str) -> tuple[str, list[Mark]]:
    """Return a text without its marks, and what they say.

    >>> unmarked("No [fevers|fever].")
    ('No fevers.', [Mark(start=3, end=9, concepts=['fever'], type='')])
    """
    text, position, marks = "", 0, []
    for found in _MARK.finditer(marked):
        text += marked[position : found.start()]
        concepts = [one.strip() for one in found[2].split("|")]
        group = concepts.pop(0) if concepts[0] in GROUP_NAMES else ""
        marks.append(Mark(len(text), len(text) + len(found[1]), concepts, group))
        text += found[1]
        position = found.end()
    return text + marked[position:], marks
