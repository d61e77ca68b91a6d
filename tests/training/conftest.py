"""An invented training set: 60 concepts in a ring with chords, 3 to 5 names each, some homonyms."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from confection import Config

from training.preprocess.graded import Graded
from training.preprocess.training_set import TrainingSet

CONCEPTS = 60


def names_of(concept: int) -> list[str]:
    extra = [f"shared sign {concept // 10}"] if concept % 10 < 2 else []
    return [f"{word} {concept:02d}" for word in ("disorder", "maladie", "krankheit")] + extra


def write_training_set(path: Path) -> Path:
    lists = [names_of(concept) for concept in range(CONCEPTS)]
    strings = sorted({name for names in lists for name in names})
    number = {name: row for row, name in enumerate(strings)}
    ids = [sorted(number[name] for name in names) for names in lists]
    pairs = [
        (c, a, b) for c, row in enumerate(ids) for i, a in enumerate(row) for b in row[i + 1 :]
    ]
    edges = sorted(
        (target, source, relation)
        for target in range(CONCEPTS)
        for source, relation in [
            ((target + 1) % CONCEPTS, 0),
            ((target - 1) % CONCEPTS, 1),
            ((target * 7 + 3) % CONCEPTS, 2),
            ((target * 5 + 2) % CONCEPTS, 2),
        ]
        if source != target
    )
    homonyms = [
        (c, d)
        for c in range(CONCEPTS)
        for d in range(CONCEPTS)
        if d != c and set(ids[c]) & set(ids[d])
    ]
    TrainingSet.write(
        path,
        names=pa.array(strings, pa.large_string()),
        pairs=np.array(pairs, dtype=np.int32),
        node_names=_rows([(c, n) for c, row in enumerate(ids) for n in row], "concept", "name"),
        edges=_rows(edges, "target", "source", "relation"),
        homonyms=_rows(homonyms, "concept", "other"),
        n_concepts=CONCEPTS,
        relation_labels=["PAR", "CHD", "RO"],
        graded=_graded(ids),
    )
    return path


def _graded(ids: list[list[int]]) -> Graded:
    """Of ten concepts each has those before it above it; the first names of both make a pair."""
    above = [(c, a) for c in range(CONCEPTS) for a in range(c // 10 * 10, c)]
    pairs = np.array([(c, ids[c][0], a, ids[a][0]) for c, a in above])
    scores = np.array([0.9 / (c - a) for c, a in above])
    return Graded(pairs, scores, _rows(above, "concept", "ancestor"), {}, pl.DataFrame())


def _rows(rows: list[tuple[int, ...]], *columns: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Int32), orient="row")


@pytest.fixture(scope="session")
def training_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_training_set(tmp_path_factory.mktemp("corpus") / "train")


@pytest.fixture
def data(training_set: Path) -> TrainingSet:
    """The invented training set, open."""
    return TrainingSet.open(training_set)


@pytest.fixture
def config(training_set: Path, tmp_path: Path) -> Config:
    """The tiny config on the invented training set: 8 steps of 16 pairs."""
    root = Path(__file__).parents[2]
    overrides = {
        "paths.training_set": str(training_set),
        "paths.output": str(tmp_path / "run"),
        "text_encoder.vocab_size": 200,
        "text_encoder.layers": 1,
        "text_encoder.hidden": 32,
        "text_encoder.intermediate": 32,
        "batches.size": 16,
        "batches.workers": 0,
        "training.max_steps": 8,
        "training.checkpoint_every": 4,
        "training.log_every": 1,
    }
    return Config().from_disk(root / "configs/train/tiny.cfg", overrides=overrides)
