import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.training.preprocess.conftest import TWO, build, name, relation, run, write_release
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet

ROOT = Path(__file__).parents[3]


def test_arrays_have_the_documented_types_and_shapes(tmp_path: Path) -> None:
    rows = [*TWO, name("C2", "b"), name("C2", "c")]
    data = build(tmp_path, rows, [relation("C1", "C2")]).train
    assert (data.pairs.dtype, data.pairs.shape) == (np.int32, (2, 3))
    for indptr in (data.node_names_indptr, data.graph_indptr, data.homonyms_indptr):
        assert (indptr.dtype, indptr.shape) == (np.int64, (3,))
    for values in (data.node_names, data.graph_sources, data.graph_relations, data.homonyms):
        assert values.dtype == np.int32
    assert data.names.to_pylist() == ["a", "b", "c"]
    assert data.n_concepts == 2
    assert isinstance(data.pairs, np.memmap)


def test_empty_graphs_and_no_homonyms_open_too(tmp_path: Path) -> None:
    data = build(tmp_path, TWO).train
    assert data.graph_indptr.tolist() == [0, 0]
    assert len(data.graph_sources) == len(data.homonyms) == 0


def test_the_manifest_names_its_knowledge_base_and_counts(tmp_path: Path) -> None:
    built = build(tmp_path, TWO, [relation("C1", "C1")], seed=7)
    manifest = built.train.manifest
    kb = hashlib.sha256((tmp_path / "out/kb/manifest.json").read_bytes()).hexdigest()
    assert manifest["kb"] == kb
    assert (manifest["kind"], manifest["format_version"]) == ("training-set", 1)
    assert (manifest["n_concepts"], manifest["names"], manifest["pairs"]) == (1, 2, 1)
    assert manifest["options"] == {
        "caps": {"english": 50, "monolingual": 50, "crosslingual": 50},
        "english_crosslingual_only": True,
        "relation_label": "rel",
        "languages": [],
        "seed": 7,
    }


@pytest.mark.parametrize("broken", [False, True])
def test_the_manifest_has_the_checksums_of_the_files_read(broken: bool, tmp_path: Path) -> None:
    rows = [name(f"C{c}", f"{'long ' * 30}{c} {n}") for c in range(1000) for n in range(2)]
    lines = [*rows[:50], "broken", *rows[50:]] if broken else rows
    built = build(tmp_path, lines, [relation("C1", "C2")])
    files = {entry["name"]: entry for entry in built.manifests["kb"]["sources"]}
    assert set(files) == {"MRCONSO.RRF", "MRREL.RRF"}
    for file, entry in files.items():
        data = (tmp_path / "META" / file).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert files["MRCONSO.RRF"]["bytes"] > 2 * (1 << 17)  # several pieces


def test_training_on_some_languages_leaves_the_held_out_names_as_they_were(tmp_path: Path) -> None:
    rows = [
        name(f"C{c}", f"{language} {c} {number}", language)
        for c in range(30)
        for language in (("ENG", "GER") if c % 3 else ("ENG",))
        for number in range(4)
    ]
    relations = [relation(f"C{c}", f"C{(c + 1) % 30}") for c in range(30)]
    whole = build(tmp_path / "whole", rows, relations, held_out=0.3)
    german = build(tmp_path / "some", rows, relations, held_out=0.3, train_languages=("GER",))
    assert german.queries() == whole.queries()
    assert german.dictionary() == whole.dictionary()
    assert german.cuis == whole.cuis
    hidden = {line.split("||")[1].lower() for line in whole.queries()["GER"]}
    named = whole.node_names()
    expected = {c: [t for t in texts if t.startswith("ger")] for c, texts in named.items()}
    assert german.node_names() == expected
    assert not hidden & set(german.strings)
    assert {a.split()[0] for _, a, b in german.pairs() if a != b} == {"ger"}
    assert set(german.manifests["train"]["pairs_by_bucket"]) == {"GER"}
    both = {cui for cui, texts in expected.items() if texts}
    assert german.edges() == [e for e in whole.edges() if {e[0], e[1]} <= both]
    assert 0 < len(german.edges()) < len(whole.edges())


def test_a_training_language_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BergamotError, match=r"T110.*language XYZ.*ENG"):
        build(tmp_path, TWO, train_languages=("XYZ",))


@pytest.mark.parametrize("damage", ["truncate", "change", "remove"])
@pytest.mark.parametrize("file", ["pairs.npy", "names.arrow", "homonyms_indptr.npy"])
def test_a_damaged_file_is_an_error_that_names_it(damage: str, file: str, tmp_path: Path) -> None:
    build(tmp_path, TWO)
    path = tmp_path / "out/train" / file
    data = path.read_bytes()
    path.unlink()
    if damage != "remove":
        path.write_bytes(data[:-1] if damage == "truncate" else data[:-1] + b"\x7f")
    with pytest.raises(BergamotError, match=file):
        TrainingSet.open(tmp_path / "out/train")


def test_another_folder_is_no_training_set(tmp_path: Path) -> None:
    build(tmp_path, TWO)
    with pytest.raises(BergamotError, match="concept-table"):
        TrainingSet.open(tmp_path / "out/kb")


def test_no_pairs_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BergamotError, match="T105"):
        build(tmp_path, [name("C1", "a"), name("C1", "A"), name("C2", "b")])
    assert not (tmp_path / "out/train").exists()


def test_an_unknown_relation_label_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BergamotError, match=r"B014.*'REL'"):
        build(tmp_path, TWO, relation_label="REL")


def test_somebody_elses_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out/kb").mkdir(parents=True)
    (tmp_path / "out/kb/thesis.txt").write_text("mine")
    with pytest.raises(BergamotError, match="B101"):
        build(tmp_path, TWO)
    assert (tmp_path / "out/kb/thesis.txt").read_text() == "mine"


def some_release(folder: Path, seed: int) -> None:
    """Write 400 concepts in random row order; some strings and relations come several times."""
    languages = ["ENG", "SPA", "FRE"]
    names = [
        name(f"C{c:03d}", f"word {c % 90} {i}", languages[i % 3], SAB=f"S{i % 2}", CODE=f"{c}")
        for c in range(400)
        for i in range(12)
    ]
    relations = [
        relation(f"C{c:03d}", f"C{c * 7 % 400:03d}", rel, rela)
        for c in range(400)
        for rel, rela in [("PAR", "isa"), ("RO", "has_tradename"), ("RO", "")]
    ]
    random.Random(seed).shuffle(names)
    random.Random(seed).shuffle(relations)
    write_release(folder / "META", MRCONSO=names, MRREL=relations)


SCRIPT = """
import sys
from pathlib import Path
from tests.training.preprocess.conftest import preprocessed
from training.preprocess.pairs import Caps
preprocessed(Path(sys.argv[1]), Path(sys.argv[2]), caps=Caps(3, 3, 3), held_out=0.1)
assert "torch" not in sys.modules
"""


def digests(folder: Path, *, manifests: bool) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (manifests or path.name != "manifest.json")
    }


def test_the_output_is_the_same_with_any_threads_and_row_order_and_needs_no_torch(
    tmp_path: Path,
) -> None:
    some_release(tmp_path, seed=0)
    some_release(tmp_path / "shuffled", seed=1)
    for out, meta, threads in [("a", "META", 1), ("b", "META", 4), ("c", "shuffled/META", 3)]:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / meta), str(tmp_path / out)]
        settings = {"POLARS_MAX_THREADS": str(threads), "PYTHONHASHSEED": str(threads)}
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **settings})
    assert digests(tmp_path / "a", manifests=True) == digests(tmp_path / "b", manifests=True)
    assert digests(tmp_path / "a", manifests=False) == digests(tmp_path / "c", manifests=False)


def test_running_again_replaces_the_output(tmp_path: Path) -> None:
    build(tmp_path, TWO)
    before = digests(tmp_path / "out", manifests=True)
    run(tmp_path)
    assert digests(tmp_path / "out", manifests=True) == before


def test_pairs_drawn_in_parts_are_those_drawn_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_release(tmp_path, seed=0)
    run(tmp_path)
    before = digests(tmp_path / "out", manifests=True)
    monkeypatch.setattr("training.preprocess.pairs._UNITS", 100)
    data = run(tmp_path).train
    assert digests(tmp_path / "out", manifests=True) == before
    assert sum(data.manifest["pairs_by_bucket"].values()) == len(data.pairs)
