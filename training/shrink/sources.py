"""The texts that say which pieces are used: a knowledge base's names, and text files."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow.compute as pc

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.text_files import numbered_lines
from training.errors import BergamotError, Errors

_BATCH = 10_000


def name_batches(concepts: Path) -> Iterator[list[str]]:
    """Yield the distinct names of a concept table, 10,000 at a time."""
    names = pc.unique(ConceptTable.open(concepts).aliases.column("alias"))
    for start in range(0, len(names), _BATCH):
        yield names[start : start + _BATCH].to_pylist()


def line_batches(path: Path) -> Iterator[list[str]]:
    """Yield the lines of a text file, or of every .txt file in a folder, 10,000 at a time.

    RAISES (BergamotError): T296 for a folder without text, B001 for a missing file, B049 for one
        that is not UTF-8.
    """
    files = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    if not files:
        remedy = "Give a text file, or a folder that has some."
        raise BergamotError(Errors.T296, path=path, what=".txt file", remedy=remedy)
    for file in files:
        lines = (line for _, line in numbered_lines(file))
        while batch := list(islice(lines, _BATCH)):
            yield batch
