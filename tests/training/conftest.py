"""An invented training set: 60 concepts in a ring with chords, 3 to 5 names each, some homonyms."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from confection import Config

from spacy_bergamot.kb.concept_table import write_arrow
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import write_manifest

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
        [d for d in range(CONCEPTS) if d != c and set(ids[c]) & set(ids[d])]
        for c in range(CONCEPTS)
    ]
    with atomic_folder(path) as folder:
        write_arrow(
            folder / "names.arrow", pa.table({"name": pa.array(strings, pa.large_string())})
        )
        _save_csr(folder, "node_names", ids)
        _save_csr(folder, "homonyms", homonyms)
        np.save(folder / "pairs.npy", np.array(pairs, dtype=np.int32))
        targets = np.array([edge[0] for edge in edges])
        indptr = np.searchsorted(targets, np.arange(CONCEPTS + 1)).astype(np.int64)
        np.save(folder / "graph_indptr.npy", indptr)
        np.save(folder / "graph_sources.npy", np.array([e[1] for e in edges], dtype=np.int32))
        np.save(folder / "graph_relations.npy", np.array([e[2] for e in edges], dtype=np.int32))
        facts = {"relation_labels": ["PAR", "CHD", "RO"], "n_concepts": CONCEPTS}
        write_manifest(folder, kind="training-set", version=1, **facts)
    return path


def _save_csr(folder: Path, name: str, rows: list[list[int]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    np.save(folder / f"{name}_indptr.npy", indptr)
    np.save(
        folder / f"{name}.npy", np.array([value for row in rows for value in row], dtype=np.int32)
    )


@pytest.fixture(scope="session")
def training_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_training_set(tmp_path_factory.mktemp("corpus") / "train")


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
