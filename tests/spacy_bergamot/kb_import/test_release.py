import gzip
import shutil
import zipfile
from pathlib import Path

import pytest

from spacy_bergamot.kb_import.release import find_tables
from tests.training.preprocess.conftest import name, relation, run, write_release
from training.errors import BergamotError

NAMES = [name(f"C{c}", f"sign {c} {w}") for c in range(9) for w in "abc"]
RELATIONS = [relation("C1", "C2"), relation("C2", "C1")]


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


def packed(folder: Path, how: str) -> None:
    """Turn folder/META into its packed form at the same path."""
    meta = folder / "META"
    if how in ("gz", "mixed"):
        for file in sorted(meta.glob("*.RRF"))[: 1 if how == "mixed" else None]:
            with gzip.open(f"{file}.gz", "wb") as out:
                out.write(file.read_bytes())
            file.unlink()
        return
    with zipfile.ZipFile(folder / "release.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in meta.glob("*.RRF"):
            if how == "zip":
                archive.write(file, f"2025AB/META/{file.name}")
            else:
                archive.writestr(f"2025AB/META/{file.name}.gz", gzip.compress(file.read_bytes()))
    shutil.rmtree(meta)
    (folder / "release.zip").rename(meta)


@pytest.mark.parametrize("how", ["gz", "mixed", "zip", "zip of gz"])
def test_a_packed_release_gives_the_same_files(tmp_path: Path, how: str):
    write_release(tmp_path / "META", MRCONSO=NAMES, MRREL=RELATIONS)
    run(tmp_path, held_out=0.2)
    plain = files(tmp_path / "out")
    packed(tmp_path, how)
    run(tmp_path, held_out=0.2)
    assert files(tmp_path / "out") == plain
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("how", ["gz", "zip"])
def test_a_truncated_archive_is_named(tmp_path: Path, how: str):
    write_release(tmp_path / "META", MRCONSO=NAMES, MRREL=RELATIONS)
    packed(tmp_path, how)
    file = tmp_path / "META"
    file = file / "MRCONSO.RRF.gz" if how == "gz" else file
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BergamotError, match="T102") as error:
        run(tmp_path)
    assert file.name in str(error.value)
    assert not list((tmp_path / "out").glob(".unpacked*"))


def test_an_archive_without_names_and_a_path_that_is_not_there(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "META", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(BergamotError, match="B001"):
        run(tmp_path)
    (tmp_path / "META").unlink()
    with pytest.raises(BergamotError, match="B001"):
        run(tmp_path)


def test_nothing_is_unpacked(tmp_path: Path, monkeypatch):
    write_release(tmp_path / "META", MRCONSO=NAMES, MRREL=RELATIONS)
    packed(tmp_path, "zip")
    written = []
    opened = Path.open

    def watched(self: Path, mode: str = "r", *arguments, **options):
        if "w" in mode:
            written.append(self.name)
        return opened(self, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", watched)
    run(tmp_path)
    assert not [name for name in written if "RRF" in name]


def test_a_gzipped_table_without_its_ending_is_read(tmp_path: Path):
    write_release(tmp_path / "META", MRCONSO=NAMES)
    file = tmp_path / "META/MRCONSO.RRF"
    file.write_bytes(gzip.compress(file.read_bytes()))
    assert len(run(tmp_path).cuis) == 9


def test_the_size_is_that_of_the_plain_table(tmp_path: Path):
    write_release(tmp_path / "META", MRCONSO=NAMES)
    plain = find_tables(tmp_path / "META")["MRCONSO"].size
    packed(tmp_path, "zip")
    assert find_tables(tmp_path / "META")["MRCONSO"].size == plain
