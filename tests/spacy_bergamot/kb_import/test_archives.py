"""Packed input: one changed byte is never other names, and what unpacks without end is refused."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from spacy_bergamot.kb_import import archives
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.rrf import open_release
from tests.training.preprocess.conftest import name, write_release
from training.corpora.text import read_text
from training.errors import BergamotError

_RANDOM = random.Random(0)
TERMS = "".join(
    f"[Term]\nid: ZO:{row:07d}\nname: {''.join(_RANDOM.choices('abcdefghij', k=30))}\n\n"
    for row in range(200)
)
TABLE = "id,name\n" + "".join(f"a{row},{_RANDOM.random()}\n" for row in range(200))


def tarred(content: str, name: str, mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for member in (f"1{name}", f"2{name}"):
            about = tarfile.TarInfo(member)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content.encode()))
    return file.getvalue()


def zipped(content: str, name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


PACKED = {
    "a.obo.gz": gzip.compress(TERMS.encode()),
    "a.csv.gz": gzip.compress(TABLE.encode()),
    "a.tar.gz": tarred(TERMS, "a.obo", "w:gz"),
    "a.tgz": tarred(TABLE, "a.csv", "w:gz"),
    "a.tar.xz": tarred(TERMS, "a.obo", "w:xz"),
    "a.tar.bz2": tarred(TERMS, "a.obo", "w:bz2"),
    "a.zip": zipped(TERMS, "a.obo"),
    "b.zip": zipped(TABLE, "a.csv"),
}


def names(path: Path, output: Path) -> str:
    import_ontologies([path], output)
    return (output / "MRCONSO.RRF").read_text("utf8")


@pytest.mark.parametrize("file", PACKED)
def test_a_changed_byte_is_an_error_or_changes_no_name(tmp_path: Path, file: str):
    data, path = PACKED[file], tmp_path / file
    path.write_bytes(data)
    whole = names(path, tmp_path / "whole")
    chance, refused = random.Random(1), 0
    for _ in range(25):
        place = chance.randrange(len(data))
        path.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        try:
            assert names(path, tmp_path / "changed") == whole, place
        except BergamotError:
            refused += 1
    assert refused >= 20
    path.write_bytes(data[:-9])
    with pytest.raises(BergamotError, match=rf"T116.*{file.removesuffix('.gz')}"):
        names(path, tmp_path / "cut")


def test_a_tar_with_a_damaged_header_does_not_end_there(tmp_path: Path):
    data = bytearray(tarred(TABLE, "a.csv", "w:"))
    data[data.index(b"2a.csv") + 100] ^= 1
    (tmp_path / "a.tar").write_bytes(data)
    with pytest.raises(BergamotError, match=r"T116.*a\.tar.*damaged"):
        names(tmp_path / "a.tar", tmp_path / "META")


@pytest.mark.parametrize("packing", ["gz", "zip"])
def test_a_changed_byte_of_a_packed_release_is_an_error(tmp_path: Path, packing: str):
    rows = "".join(name(f"C{row:07d}", str(_RANDOM.random())) + "\n" for row in range(300))
    data = gzip.compress(rows.encode(), mtime=0)
    path = tmp_path / "MRCONSO.RRF.gz"
    if packing == "zip":
        data, path = zipped(rows, "META/MRCONSO.RRF"), tmp_path / "release.zip"
    for place in range(60, len(data) - 100, 97):
        path.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        with pytest.raises(BergamotError, match=r"T10[23]"):
            open_release(tmp_path if packing == "gz" else path)["MRCONSO"].frame("STR")


@pytest.mark.parametrize(
    "file", ["a.json.gz", "a.jsonl.gz", "a.csv.gz", "a.obo.gz", "a.xml.gz", "a.zip", "a.tar.bz2"]
)
def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch, file: str):
    monkeypatch.setattr(archives, "_ALWAYS", 1 << 20)
    start = {".csv": "id,name\n", ".obo": "format-version: 1.2\n", ".xml": "<JDBOR>"}
    text = start.get(Path(file.removesuffix(".gz")).suffix, "") + " " * (8 << 20)
    made = {"a.zip": zipped(text, "a.json"), "a.tar.bz2": tarred(text, "a.json", "w:bz2")}
    (tmp_path / file).write_bytes(made.get(file) or gzip.compress(text.encode()))
    with pytest.raises(BergamotError, match=r"T238.*a\..*1 MiB"):
        names(tmp_path / file, tmp_path / "META")


def test_a_packed_corpus_has_the_same_bound(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(archives, "_ALWAYS", 1 << 20)
    path = tmp_path / "a.PubTator.gz"
    path.write_bytes(gzip.compress(b"1|t|" + b" " * (8 << 20)))
    with pytest.raises(BergamotError, match="T238"):
        read_text(path)
    path.write_bytes(gzip.compress(b" " * (1 << 20)))
    assert len(read_text(path)) == 1 << 20


@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress])
def test_other_packings_of_one_file_are_read_too(tmp_path: Path, pack):
    path = tmp_path / {lzma.compress: "a.obo.xz", bz2.compress: "a.obo.bz2"}[pack]
    path.write_bytes(pack(TERMS.encode()))
    assert names(path, tmp_path / "META").count("\n") == 200


def test_malformed_lines_stop_early_where_sound_ones_cannot_make_up_for_them(tmp_path: Path):
    rows = [name("C0000001", "heart")] * 2
    write_release(tmp_path, MRCONSO=rows)
    path = tmp_path / "MRCONSO.RRF"
    path.rename(path.with_suffix(".RRF.gz"))
    path.with_suffix(".RRF.gz").write_bytes(gzip.compress(b"\n" * (40 << 20), 1))
    table = open_release(tmp_path)["MRCONSO"]
    with pytest.raises(BergamotError, match="T103"):
        table.frame("STR")
    assert table.read < 4 << 20
    table = open_release(tmp_path, max_malformed=1)["MRCONSO"]
    path.with_suffix(".RRF.gz").write_bytes(gzip.compress(b"\n" * (2 << 20), 1))
    assert not table.frame("STR").height


@pytest.mark.parametrize("file", ["a.obo.gz", "a.zip", "a.tar.gz"])
def test_a_reader_that_stops_early_misses_no_damage(tmp_path: Path, monkeypatch, file: str):
    monkeypatch.setattr(archives, "_PIECE", 64)
    path = tmp_path / file
    path.write_bytes(PACKED[file])

    def starts() -> list[bytes]:
        return [stream.read(5) for _, stream in archives.members(path)]

    assert starts()[0] == b"[Term"
    data = bytearray(PACKED[file])
    data[len(data) * 2 // 3] ^= 16
    path.write_bytes(data)
    with pytest.raises(archives.BROKEN):
        starts()
