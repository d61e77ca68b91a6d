"""The benchmarks of alignment and upgrade run, and say at the end what they promise."""

from pathlib import Path

from spacy_bergamot.kb_import.build import table_of
from tests.benchmark_figures import figures
from tests.processes import ROOT
from tests.spacy_bergamot.conftest import write_lm


def write_vocabularies(folder: Path, count: int) -> list[str | Path]:
    """Write two tables and what a hub says of the first nine tenths; return the arguments."""
    header = "subject_id\tpredicate_id\tobject_id\n"
    hubs: list[str | Path] = []
    for side in ("A", "B"):
        rows = ["id\tname\ttype\tparents"]
        for n in range(count):
            name = f"{side if n % 5 == 0 else 'disease'} {n} of place {n % 7}"
            parent = f"{side}:{(n - 1) // 3}" if n else ""
            rows.append(f"{side}:{n}\t{name}\tT047\t{parent}")
        (folder / f"{side}.tsv").write_text("\n".join(rows) + "\n", "utf8")
        table_of([folder / f"{side}.tsv"], folder / side)
        hub = "".join(f"H:{n}\tskos:exactMatch\t{side}:{n}\n" for n in range(count * 9 // 10))
        (folder / f"{side}.sssom.tsv").write_text(header + hub, "utf8")
        hubs += ["--hub", folder / f"{side}.sssom.tsv"]
    return [folder / "A", folder / "B", *hubs]


def test_two_vocabularies_are_matched_as_a_third_one_says(tmp_path: Path):
    given = [
        *write_vocabularies(tmp_path, 100),
        "--lm",
        write_lm(tmp_path / "lm"),
        "--sample",
        "60",
    ]
    found = figures("benchmarks.align", *given)
    assert (found["left"], found["right"], found["gold"]) == (70, 100, 60)
    assert found["exact"]["p"] > 0.8
    assert found["by rule"]["hits@10"] >= found["exact"]["hits@10"] > 0.7
    assert all(0 <= value <= 1 for value in found["learned"].values())


def test_ontoea_is_measured_beside_names(tmp_path: Path):
    words = ["disease", "place", "of", "a", "b", *map(str, range(200))]
    lm = write_lm(tmp_path / "lm", words=words)
    vocabularies = write_vocabularies(tmp_path, 200)
    given = [*vocabularies, "--lm", lm, "--sample", "150", "--ontoea", tmp_path / "checkpoint"]
    found = figures("benchmarks.align", *given)
    assert 150 < found["gold"] <= found["left"] <= 200  # some that are above are the hub's too
    assert found["with ontoea"]["f1"] > 0.7
    assert 0 < found["ontoea"]["hits@10"] <= 1


def test_an_upgrade_is_compared_with_a_pipeline_built_anew(tmp_path: Path):
    given = ["--lm", write_lm(tmp_path / "lm"), "--engine", "exact", "--mentions", "50"]
    found = figures("benchmarks.upgrade", ROOT / "assets/sample/META", *given)
    assert 0 < found["encoded"] < 0.2 * found["names"]
    assert found["kept"] + found["encoded"] == found["names"]
    assert found["same_first"] == 1
    assert found["upgrade_s"] > 0
