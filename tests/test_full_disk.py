"""Every stage on a disk that is too small: what it says, what it leaves, and how it goes on."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confection import Config
from typer.testing import CliRunner, Result

from spacy_bergamot.cli import bergamot
from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.vector_store import Plan, fill, plan_of
from spacy_bergamot.pipeline.build import build_pipeline
from spacy_bergamot.storage import preflight
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts, write_lm
from tests.training.conftest import config, training_set  # noqa: F401
from tests.training.preprocess.conftest import name, preprocessed, relation, write_release
from training.bergamot.run import train
from training.preprocess.pairs import Caps

Resize = Callable[[int], Path]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Resize]:
    """Return a function that gives a disk so many KiB and returns its folder."""
    monkeypatch.setattr(preflight, "free_disk", lambda folder: 1 << 60)  # the look before
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user cannot mount a tmpfs")

    def resize(size: int) -> Path:
        options = ["mount", "-o", f"remount,size={size}k", str(folder)]
        subprocess.run(options, check=True)
        return folder

    yield resize
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def grow_until_it_succeeds(stage: Callable[[Path], object], resize: Resize, factor: float) -> Path:
    """Run a stage on larger and larger disks; every failure names the remedy, leaves no part."""
    size, failures = 16.0, []
    folder = resize(round(size))
    while True:
        try:
            stage(folder)
            break
        except BergamotError as error:
            failures.append(str(error))
        left = [path for path in folder.rglob("*") if path.name.endswith(".part")]
        assert left == []
        size *= factor
        resize(round(size))
    assert len(failures) > 2
    for message in failures:
        assert message.startswith("[B007]"), message
        assert "Free some space" in message
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = [f for f in folder.rglob("*") if f.is_file() and f.name != "history.json"]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_preprocessing(disk: Resize, tmp_path: Path):
    words = [f"disorder {n:05d}" for n in range(3000)]
    names = [name(f"C{n // 3:05d}", word) for n, word in enumerate(words)]
    relations = [relation(f"C{n:05d}", f"C{n + 1:05d}") for n in range(900)]
    meta = write_release(tmp_path / "META", MRCONSO=names, MRREL=relations)

    def stage(folder: Path) -> None:
        preprocessed(meta, folder / "corpus", caps=Caps(5, 5, 5), held_out=0.1)

    stage(tmp_path / "whole")
    found = contents(grow_until_it_succeeds(stage, disk, 1.25))
    assert found == contents(tmp_path / "whole")


@pytest.mark.parametrize("engine", ["nmslib", "usearch", "exact"])
def test_index_building(disk: Resize, tmp_path: Path, engine: str):
    known = {f"C{n:03d}": ("T047", {"ENG": [f"disorder {n:03d}"]}) for n in range(800)}
    concepts = write_concepts(tmp_path / "kb", {**CONCEPTS, **known})
    encoder = TextEncoder.open(write_lm(tmp_path / "lm"))
    options = {"lm_fingerprint": "x", "engine": engine, "vectors": tmp_path / "vectors"}

    def stage(folder: Path) -> None:
        AliasIndex.build(folder / "i", concepts, encoder, **options)

    index = AliasIndex.open(grow_until_it_succeeds(stage, disk, 1.2) / "i")
    assert len(index) > 800


def test_encoding(disk: Resize, tmp_path: Path):
    encoder = TextEncoder.open(write_lm(tmp_path / "lm"))
    strings = pa.array([f"sign {n}" for n in range(400)], pa.large_string())
    made = plan_of(strings, encoder, lm_fingerprint="x")
    plan = Plan(**{**made.__dict__, "shard": 100})
    fill(tmp_path / "whole/v", strings, encoder, plan)
    found = grow_until_it_succeeds(lambda d: fill(d / "v", strings, encoder, plan), disk, 1.3)
    assert contents(found) == contents(tmp_path / "whole")


def test_training(disk: Resize, config: Config, tmp_path: Path):  # noqa: F811
    config["training"].update(max_steps=6, checkpoint_every=2)

    def stage(folder: Path) -> None:
        config["paths"]["output"] = str(folder / "run")
        train(config)

    stage(tmp_path / "whole")
    found = grow_until_it_succeeds(stage, disk, 1.5)
    assert contents(found) == contents(tmp_path / "whole")


def test_annotating(disk: Resize, tmp_path: Path):
    """What is done stays; with more space the same command ends as on a large disk."""
    build_pipeline(
        lm=write_lm(tmp_path / "lm"), concepts=write_concepts(tmp_path / "kb"), engine="exact"
    ).to_disk(tmp_path / "pipeline")
    texts = [f"fever {row}" for row in range(400)]
    pq.write_table(pa.table({"id": range(400), "text": texts}), tmp_path / "in.parquet")

    def annotate(output: Path) -> Result:
        command = ["annotate", tmp_path / "pipeline", tmp_path / "in.parquet", output]
        options = ["--rows", "20", "--workers", "1"]
        return CliRunner().invoke(bergamot, [*map(str, command), *options])

    folder = disk(32)
    result = annotate(folder / "out")
    assert result.exit_code == 1
    assert "[B007]" in result.output
    assert not list(folder.rglob("*.part"))
    assert 0 < len(list(folder.glob("out/*.parquet"))) < 20
    disk(1000)
    assert annotate(folder / "out").exit_code == 0
    assert annotate(tmp_path / "whole").exit_code == 0
    assert contents(folder / "out") == contents(tmp_path / "whole")
