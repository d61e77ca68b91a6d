import logging
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.kb_import.rrf import COLUMNS, RrfTable, open_release
from tests.training.preprocess.conftest import name
from training.errors import BergamotError


def read(folder: Path, data: bytes, **options: float) -> tuple[RrfTable, pl.DataFrame]:
    (folder / "MRCONSO.RRF").write_bytes(data)
    table = open_release(folder, **options)["MRCONSO"]
    return table, table.frame(*table.columns)


def strings(folder: Path, data: bytes) -> list[str]:
    return read(folder, data)[1]["STR"].to_list()


def lines(*texts: str) -> bytes:
    return "".join(name("C1", text) + "\n" for text in texts).encode("utf8")


def test_the_columns_are_those_of_the_release_format() -> None:
    widths = {table: len(columns.split()) for table, columns in COLUMNS.items()}
    expected = {"MRCONSO": 18, "MRREL": 16, "MRSTY": 6, "MRDEF": 8, "MRRANK": 4}
    expected |= {"MRHIER": 9, "MRSAB": 25}
    assert widths == expected


def test_a_missing_table_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "MRCONSO.RRF").write_bytes(lines("a"))
    assert [*open_release(tmp_path)] == ["MRCONSO"]


HARD_NAMES = [
    "\x1e",
    "NA",
    "null",
    "None",
    "N/A",
    "nan",
    '"',
    'a "b',
    "x\u0085y",
    "x\u2028y",
    "x\x0cy",
    "#",
]


def test_hard_names_survive(tmp_path: Path) -> None:
    table, rows = read(tmp_path, lines(*HARD_NAMES))
    assert rows["STR"].to_list() == HARD_NAMES
    assert (table.read, table.malformed) == (len(HARD_NAMES), 0)


field = st.text(
    st.characters(exclude_characters="|\n\r\ufffd", exclude_categories=["Cs"]), min_size=1
)


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(field, min_size=1, max_size=20), last=st.booleans())
def test_any_name_survives(
    texts: list[str], last: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = lines(*texts) if last else lines(*texts)[:-1]
    assert strings(tmp_path_factory.mktemp("rrf"), data) == texts


def test_empty_fields_are_empty_strings_in_their_own_columns(tmp_path: Path) -> None:
    row = read(tmp_path, lines("x"))[1].row(0, named=True)
    assert (row["CUI"], row["LUI"], row["STR"], row["CVF"]) == ("C1", "", "x", "")


def test_windows_line_ends_and_a_byte_order_mark_are_no_part_of_a_field(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + lines("a", "b").replace(b"\n", b"\r\n")
    rows = read(tmp_path, data)[1]
    assert rows["CUI"].to_list() == ["C1", "C1"]
    assert rows["CVF"].to_list() == ["", ""]


good = name("C1", "good").encode()
BAD = {
    b"": "0 columns where 18 belong",
    b"C1|ENG|short|": "3 columns where 18 belong",
    good + b"more|": "19 columns where 18 belong",
    good[:-9]: "columns where 18 belong",
    good + b"more": "text after the last |",
    good.replace(b"good", b"\xff\xfe"): "not UTF-8",
    good.replace(b"good", b"caf\xe9"): "not UTF-8",
    good.replace(b"good", "\ufffd".encode()): "U+FFFD",
    good.replace(b"good", b""): "CUI or STR is empty",
    good.replace(b"C1", b""): "CUI or STR is empty",
    good.replace(b"good", b"a\rb"): "carriage return",
}


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_malformed_line_is_named_counted_and_skipped(
    bad: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = lines("a", "b") + bad + b"\n" + lines("c")
    with caplog.at_level(logging.WARNING):
        table, rows = read(tmp_path, data, max_malformed=0.25)
    assert (table.read, table.malformed) == (4, 1)
    assert rows["STR"].to_list() == ["a", "b", "c"]
    assert "MRCONSO.RRF:3: " in caplog.text
    assert BAD[bad] in caplog.text


def test_a_line_is_checked_in_the_columns_too_that_are_not_asked_for(tmp_path: Path) -> None:
    whole = name("C1", "a", SAUI="x")
    bad = [
        whole.replace("|x|", "|\xff|").encode("latin1"),
        whole.replace("|x|", "|\ufffd|").encode(),
    ]
    (tmp_path / "MRCONSO.RRF").write_bytes(b"\n".join([*bad, whole.encode(), b""]))
    table = open_release(tmp_path, max_malformed=1)["MRCONSO"]
    assert table.frame("STR").height == 1
    assert table.malformed == 2


def test_a_truncated_last_line_is_malformed(tmp_path: Path) -> None:
    whole = lines("a", "b", "c")
    assert read(tmp_path, whole[:-1])[0].malformed == 0
    assert read(tmp_path, whole[:-9], max_malformed=1)[0].malformed == 1


def test_too_many_malformed_lines_stop_the_run(tmp_path: Path) -> None:
    data = lines("a") + b"bad\n" * 11
    with pytest.raises(BergamotError) as caught:
        read(tmp_path, data, max_malformed=0.5)
    message = str(caught.value)
    assert message.startswith("[T103]")
    assert "11 malformed lines of 12" in message
    shown = [number for number in range(1, 14) if f"MRCONSO.RRF:{number}: " in message]
    assert shown == list(range(2, 12)), "the first ten"
    assert "--max-malformed" in message


def test_the_allowed_share_is_inclusive(tmp_path: Path) -> None:
    data = lines("a", "b", "c") + b"bad\n"
    assert read(tmp_path, data, max_malformed=0.25)[0].malformed == 1
    with pytest.raises(BergamotError):
        read(tmp_path, data, max_malformed=0.24)


def test_line_numbers_hold_in_a_long_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = lines(*(f"name {i}" for i in range(60_000))).split(b"\n")
    data[20_000] = data[20_010] = data[50_000] = b"bad"
    with caplog.at_level(logging.WARNING):
        table, rows = read(tmp_path, b"\n".join(data))
    for number in (20_001, 20_011, 50_001):
        assert f"MRCONSO.RRF:{number}: 0 columns" in caplog.text
    kept = [f"name {i}" for i in range(60_000) if i not in (20_000, 20_010, 50_000)]
    assert rows["STR"].to_list() == kept
    assert (table.read, table.malformed) == (60_000, 3)


def test_a_line_longer_than_a_piece(tmp_path: Path) -> None:
    texts = ["a", "x" * (5 << 20), "b"]
    assert strings(tmp_path, lines(*texts)) == texts


def test_a_folder_of_hard_name_is_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "META [2020*]"
    folder.mkdir()
    assert strings(folder, lines("a")) == ["a"]


def test_a_file_without_line_feeds_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "MRCONSO.RRF").open("wb") as out:
        out.truncate(1 << 36)
    with pytest.raises(BergamotError, match=r"T102.*no line feed in 257 MiB"):
        open_release(tmp_path)["MRCONSO"].frame("STR")
