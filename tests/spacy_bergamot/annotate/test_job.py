"""`annotate`: a row for every row, units that are whole, what is refused, what is gone on with."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import spacy
from typer.testing import Result

from spacy_bergamot import AnnotateBatches
from spacy_bergamot.annotate import batches, workers
from tests.spacy_bergamot.annotate.conftest import parts, read, texts, write

Run = Callable[..., Result]


def test_a_row_for_every_row_in_order(run: Run, pipeline: Path, tmp_path: Path):
    bad = texts(70, RAISES=7, PRINTS=11)
    bad[20] = None
    given = write(tmp_path / "in/a.parquet", bad, row_group_size=16)
    write(tmp_path / "in/deep/b.parquet", texts(3), first=70)
    write(tmp_path / "in/_hidden/c.parquet", texts(3))
    write(tmp_path / "in/none.parquet", [], row_group_size=16)
    said = run(tmp_path / "in", tmp_path / "out", "--rows", 25, "--keep", "ward").output
    assert "4 of 4 files, 73 of 73 documents" in said
    assert "2 documents failed" in said
    made = read(tmp_path / "out")
    assert made.column_names == ["id", "ward", "mentions", "error"]
    assert made.column("id").to_pylist()[:70] == pq.read_table(given).column("id").to_pylist()
    assert made.schema.field("ward").type == pa.int16()
    errors = [row for row, error in enumerate(made.column("error").to_pylist()) if error]
    assert errors == [7, 20]
    expected = AnnotateBatches(str(pipeline), keep=("id", "ward"))(pq.read_table(given))
    assert made.slice(0, 70).equals(expected.replace_schema_metadata(made.schema.metadata))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "_bergamot", *(f"part-0000{n}.parquet" for n in range(4)),
    ]  # fmt: skip
    summary = json.loads((tmp_path / "out/_bergamot/summary.json").read_text())
    assert (summary["rows"], summary["errors"]) == (73, 2)
    assert summary["linked"] > 60
    before = parts(tmp_path / "out")
    (tmp_path / "out/part-00001.parquet").unlink()
    (tmp_path / "out/part-00002.parquet").write_bytes(b"PAR1")
    assert "2 of 4 files" in run("a", tmp_path / "out", "--status").output
    options = ("--rows", 25, "--keep", "ward")
    assert "2 of 4" in run(tmp_path / "in", tmp_path / "out", *options, "--dry-run").output
    run(tmp_path / "in", tmp_path / "out", *options)
    assert parts(tmp_path / "out") == before


def test_shards_and_workers_make_the_same_files(run: Run, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(batches, "MOST_ROWS", 7)
    given = write(tmp_path / "a.parquet", texts(100), row_group_size=30)
    run(given, tmp_path / "one", "--rows", 20)
    run(given, tmp_path / "two", "--rows", 20, "--workers", 2)
    assert "2 of 2 files" in run(given, tmp_path / "three", "--rows", 20, "--shard", "0/2").output
    assert len(parts(tmp_path / "three")) == 2
    assert not (tmp_path / "three/_bergamot/summary.json").exists()
    run(given, tmp_path / "three", "--rows", 20, "--shard", "1/2")
    assert (tmp_path / "three/_bergamot/summary.json").exists()
    assert parts(tmp_path / "one") == parts(tmp_path / "two") == parts(tmp_path / "three")


def test_a_document_that_ends_its_process_is_a_row_with_an_error(
    run: Run, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(batches, "MOST_ROWS", 4)
    given = write(tmp_path / "a.parquet", texts(12, ENDS=5))
    said = run(given, tmp_path / "out").output
    assert "1 documents failed" in said
    errors = read(tmp_path / "out").column("error").to_pylist()
    assert "signal 11" in errors[5]
    assert [row for row, error in enumerate(errors) if error] == [5]
    mentions = read(tmp_path / "out").column("mentions").to_pylist()
    assert [len(of) for of in mentions] == [1, 2, 1, 0, 0, 0, 1, 2, 1, 0, 0, 3]


def test_a_document_without_end_is_a_row_with_an_error(run: Run, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(workers, "_TRIES", 1)
    monkeypatch.setattr(batches, "MOST_ROWS", 1)
    given = write(tmp_path / "a.parquet", texts(2, WAITS=1))
    run(given, tmp_path / "out", "--timeout", 8)
    error = read(tmp_path / "out").column("error").to_pylist()
    assert error[0] is None
    assert "no answer in 8 seconds" in error[1]


def test_errors_are_tried_again_and_nothing_else(
    run: Run, pipeline: Path, code: Path, tmp_path: Path
):
    given = write(tmp_path / "a.parquet", texts(30, RAISES=3))
    run(given, tmp_path / "out", "--rows", 10)
    before = parts(tmp_path / "out")
    run(given, tmp_path / "out", "--rows", 10, "--retry-errors")
    assert parts(tmp_path / "out") == before  # it fails again
    stored = pq.read_table(tmp_path / "out/part-00000.parquet")
    error = pa.array([*["chance"] * 2, *stored.column("error").to_pylist()[2:]], pa.string())
    empty = pa.array([[]] * 10, stored.schema.field("mentions").type)
    broken = stored.set_column(2, "error", error).set_column(1, "mentions", empty)
    pq.write_table(broken, tmp_path / "out/part-00000.parquet")
    run(given, tmp_path / "out", "--rows", 10, "--retry-errors")
    made = read(tmp_path / "out")
    assert [row for row, error in enumerate(made.column("error").to_pylist()) if error] == [3]
    mentions = made.column("mentions").to_pylist()
    assert [len(of) for of in mentions[:5]] == [1, 2, 0, 0, 0]  # those beside them were not linked
    assert list(parts(tmp_path / "out").values())[1:] == list(before.values())[1:]
    assert "B175" in run(given, tmp_path / "new", "--retry-errors", status=1).output
    assert "B175" in run(given, tmp_path / "new", "--status", status=1).output


def test_texts_of_other_forms(run: Run, tmp_path: Path):
    rows = [
        {"id": 7, "text": "fever", "ward": ["a", 1]},
        {"text": "cold \ud800"},
        {"id": "b", "text": "cold"},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    run(tmp_path / "a.jsonl.gz", tmp_path / "out", "--keep", "ward,text")
    made = read(tmp_path / "out")
    assert made.column("id").to_pylist() == ["7", None, "b"]
    assert made.column("ward").to_pylist() == ['["a", 1]', None, None]
    assert made.column("text").to_pylist() == ["fever", None, "cold"]
    assert [len(of) for of in made.column("mentions").to_pylist()] == [1, 0, 1]
    assert "Unicode" in made.column("error").to_pylist()[1]
    (tmp_path / "notes/ward").mkdir(parents=True)
    (tmp_path / "notes/ward/a.txt").write_text("fever")
    (tmp_path / "notes/b.txt").write_bytes(b"\xff\xfe\x00")
    run(tmp_path / "notes", tmp_path / "out2", "--rows", 1)
    made = read(tmp_path / "out2")
    assert made.column("id").to_pylist() == ["b", "ward/a"]
    assert "B049" in made.column("error").to_pylist()[0]
    (tmp_path / "a.csv").write_text("id,note\n1,fever\n1,cold\n")
    options = ("--text-column", "note")
    assert "B174" in run(tmp_path / "a.csv", tmp_path / "out3", *options, status=1).output
    run(tmp_path / "a.csv", tmp_path / "out3", *options, "--duplicate-ids")
    assert read(tmp_path / "out3").num_rows == 2


def test_object_stores(run: Run, tmp_path: Path):
    memory = fsspec.filesystem("memory")
    given = write(tmp_path / "a.parquet", texts(30))
    memory.put_file(str(given), "/bucket/in/a.parquet")
    memory.put_file(str(given), "/bucket/in/b.parquet")
    options = ("--rows", 20, "--duplicate-ids")
    run("memory://bucket/in/*.parquet", "memory://bucket/out", *options)
    names = [path for path in memory.find("/bucket/out") if path.endswith(".parquet")]
    assert len(names) == 4
    rows = [pq.read_table(memory.open(name)).num_rows for name in sorted(names)]
    assert rows == [20, 10, 20, 10]
    assert "4 of 4 files" in run("x", "memory://bucket/out", "--status").output
    memory.rm("/bucket/out/part-00002.parquet")
    run("memory://bucket/in/*.parquet", "memory://bucket/out", *options)
    assert memory.exists("/bucket/out/part-00002.parquet")
    for url, code in (("nowhere://a/b", "B172"), ("memory://bucket/none", "B102")):
        assert code in run(url, tmp_path / "x", status=1).output


def test_what_has_changed_is_refused(run: Run, pipeline: Path, tmp_path: Path):
    given, out = write(tmp_path / "in.parquet", texts(10)), tmp_path / "out"
    copy = tmp_path / "pipeline"
    shutil.copytree(pipeline, copy)
    run(given, out, by=copy)
    for options, what in (
        (("--rows", 3), "rows was 20000, is 3"),
        (("--candidates",), "settings: candidates was False, is True"),
        (("--keep", "ward"), "settings: keep"),
    ):
        said = run(given, out, *options, by=copy, status=1).output
        assert "B040" in said
        assert what in said
    config = (copy / "config.cfg").read_text()
    (copy / "config.cfg").write_text(config.replace("max_tokens = 8", "max_tokens = 7"))
    said = run(given, out, by=copy, status=1).output
    assert "B040" in said
    assert "pipeline: config.cfg" in said
    (copy / "config.cfg").write_text(config)
    run(given, out, by=copy)
    os.utime(given, (1, 1))
    assert "changed was" in run(given, out, by=copy, status=1).output
    write(tmp_path / "in2.parquet", texts(10))
    assert "path was" in run(tmp_path / "in2.parquet", out, by=copy, status=1).output


def test_what_cannot_be_is_said_before_anything_is_written(
    run: Run, pipeline: Path, tmp_path: Path
):
    given, out = write(tmp_path / "in.parquet", texts(6)), tmp_path / "out"
    whole = given.read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-100])
    (tmp_path / "empty").mkdir()
    write(tmp_path / "mixed/a.parquet", texts(2))
    other = pa.table({"id": [1], "text": ["fever"]})
    pq.write_table(other, tmp_path / "mixed/b.parquet")
    spacy.blank("en").to_disk(tmp_path / "blank")
    for source, options, code in (
        (given, ("--text-column", "no"), "B102"),
        (given, ("--text-column", "ward"), "B170"),
        (given, ("--id-column", "no"), "B102"),
        (given, ("--keep", "a"), "B102"),
        (tmp_path / "cut.parquet", (), "B002"),
        (tmp_path / "empty", (), "B102"),
        (tmp_path / "none.parquet", (), "B001"),
        (tmp_path / "mixed", (), "B170"),
    ):
        assert code in run(source, out, *options, status=1).output, (source, options)
        assert not out.exists()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/one.txt").write_text("fever", "utf8")
    said = run(tmp_path / "notes", out, "--keep", "ward", status=1).output
    assert "no column 'ward'. Known are: id, text." in " ".join(said.split())
    double = write(tmp_path / "double.parquet", texts(300))
    table = pq.read_table(double)
    pq.write_table(pa.concat_tables([table, table.slice(299)]), double)
    said = run(double, out, status=1).output
    assert "B174" in said
    assert "n299" in said
    assert "row 299 of" in said
    assert "row 300 of" in said
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    assert "B101" in run(given, out, status=1).output
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    assert "B101" in run(given, out / "mine.txt", status=1).output
    assert "B171" in run(given, tmp_path / "new", by=tmp_path / "blank", status=1).output
    assert "--shard" in run(given, tmp_path / "new", "--shard", "2/2", status=2).output
    (tmp_path / "plan/_bergamot").mkdir(parents=True)
    (tmp_path / "plan/_bergamot/plan.json").write_text('{"format_version": 1}')
    assert "B002" in run(given, tmp_path / "plan", status=1).output


def test_damaged_rows_take_no_others_down(run: Run, tmp_path: Path):
    long = [f"{os.urandom(600).hex()} fever {row}" for row in range(40)]
    given = write(tmp_path / "a.parquet", long, row_group_size=10, compression="zstd")
    data = bytearray(given.read_bytes())
    column = pq.read_metadata(given).row_group(1).column(1)
    begin = column.dictionary_page_offset or column.data_page_offset
    data[begin : begin + column.total_compressed_size] = b"\0" * column.total_compressed_size
    given.write_bytes(data)
    said = run(given, tmp_path / "out", "--rows", 10, status=1).output
    assert "B176" in said
    assert "1 of 4 files" in said
    assert len(parts(tmp_path / "out")) == 3
    assert read(tmp_path / "out").column("id").to_pylist()[10] == "n20"
