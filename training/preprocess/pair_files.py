"""Training sets from pairs of names: SapBERT's exchange format, bitext, annotated mentions.

A class is a concept, or a translation pair. Such a set has no graph; its pairs may be mixed with
a knowledge base's, by giving the lines that `write_pairs` makes of it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.storage.files import atomic_file
from spacy_bergamot.text import normalize
from spacy_bergamot.text_files import numbered_lines
from training.errors import BergamotError, Errors
from training.preprocess.graph import homonym_pairs
from training.preprocess.training_set import TrainingSet

Line = tuple[str, str, str]
_BLOCK = 100_000


def read_pairs(path: Path) -> Iterator[Line]:
    """Yield (class, name, name) of `class||name||name` lines. RAISES (BergamotError): B057."""
    for _, (label, one, other) in _fields(path, "||", 3):
        yield label, one, other


def read_bitext(path: Path) -> Iterator[Line]:
    """Yield (class, name, name) of tab-separated translations; each line is a class of its own.

    Its name is the file's with the line's number: XL-BEL's `ENDE2344`.
    """
    for number, (one, other) in _fields(path, "\t", 2):
        yield f"{path.stem}{number}", one, other


def _fields(path: Path, separator: str, count: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in numbered_lines(path):
        fields = line.split(separator)
        if len(fields) != count or not all(field.strip() for field in fields):
            reason = f"another number of fields than it needs: {line[:80]}"
            raise BergamotError(Errors.B057, path=path, line=number, reason=reason)
        yield number, fields


def read_mentions(mentions: Iterable[tuple[str, str]], names: dict[str, list[str]]) -> list[Line]:
    """Pair every (mention, concept) with every name of the concept, as SapBERT's fine-tuning."""
    return [
        (concept, mention, name)
        for mention, concept in mentions
        for name in names.get(concept, [])
        if normalize(mention) != normalize(name)
    ]


def write_pairs(path: Path, data: TrainingSet, concept_ids: pa.Array | None = None) -> int:
    """Write a training set's pairs as `class||name||name` lines; return how many."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf8", newline="\n") as out:
        for start in range(0, len(data.pairs), _BLOCK):
            rows = np.asarray(data.pairs[start : start + _BLOCK])
            first, second = (data.names.take(pa.array(rows[:, i])).to_pylist() for i in (1, 2))
            labels: list[Any] = rows[:, 0].tolist()
            if concept_ids is not None:
                labels = concept_ids.take(pa.array(rows[:, 0])).to_pylist()
            out.writelines(
                f"{label}||{a}||{b}\n" for label, a, b in zip(labels, first, second, strict=True)
            )
    return len(data.pairs)


def write_pair_set(path: Path, lines: Iterable[Line]) -> dict[str, Any]:
    """Write a training set of pairs alone; return its manifest.

    Names are stripped and lower-cased; equal names and repeated pairs make none.

    RAISES (BergamotError): T105 if no pair is left.
    """
    frame = pl.DataFrame(list(lines), schema=["label", "a", "b"], orient="row")
    frame = frame.with_columns(pl.col("a", "b").str.strip_chars().str.to_lowercase())
    frame = frame.filter(pl.col("a") != pl.col("b")).unique()
    if frame.is_empty():
        raise BergamotError(Errors.T105, path=path)
    labels = frame.select("label").unique().sort("label").with_row_index("concept")
    strings = pl.concat([frame["a"], frame["b"]]).unique().sort().to_frame("name")
    numbered = strings.with_row_index("id")
    pairs = (
        frame.join(labels, on="label")
        .join(numbered.rename({"name": "a", "id": "first"}), on="a")
        .join(numbered.rename({"name": "b", "id": "second"}), on="b")
        .select(pl.col("concept", "first", "second").cast(pl.Int32))
        .sort("concept", "first", "second")
    )
    own = pl.concat(
        [pairs.select("concept", name=pl.col(side)) for side in ("first", "second")]
    ).unique()
    own = own.sort("concept", "name")
    return TrainingSet.write(
        path,
        names=strings["name"].to_arrow(compat_level=pl.CompatLevel.oldest()),
        pairs=pairs.to_numpy(),
        node_names=own,
        edges=pl.DataFrame(schema=dict.fromkeys(("target", "source", "relation"), pl.Int32)),
        homonyms=homonym_pairs(own, most=own.height)[0],
        n_concepts=labels.height,
        relation_labels=[],
    )
