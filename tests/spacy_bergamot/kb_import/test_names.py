"""Names of a release: which is preferred, which are kept, what is no MRCONSO."""

from pathlib import Path

import pytest

from tests.training.preprocess.conftest import TWO, build, line, name, run, write_release
from training.errors import BergamotError


def test_without_ranks_the_preferred_name_is_the_preferred_atom(tmp_path: Path) -> None:
    preferred = {"ISPREF": "Y", "TS": "P", "STT": "PF"}
    rows = [
        name("C1", "a synonym"),
        name("C1", "the name", **preferred),
        name("C1", "a name", "FRE", **preferred),
        name("C2", "b", **preferred),
        name("C2", "a", **preferred),
        name("C3", "z", "GER"),
        name("C3", "y", "SPA", **preferred),
        name("C4", "anglais", "FRE", **preferred),
        name("C4", "zenglish"),
    ]
    built = build(tmp_path, rows)
    assert built.rows("concepts", "name") == ["the name", "a", "y", "zenglish"]


def test_each_mark_of_preference_outweighs_those_after_it(tmp_path: Path) -> None:
    marks = {"ISPREF": "Y", "TS": "P", "STT": "PF"}
    order = [(1, 1, 1), (1, 1, 0), (1, 0, 1), (1, 0, 0), (0, 1, 1), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
    rows = [
        name(
            "C1",
            f"{9 - place}",
            **{k: v for (k, v), on in zip(marks.items(), ons, strict=True) if on},
        )
        for place, ons in enumerate(order)
    ]
    rows.append(name("C1", "0 foreign", "FRE", **marks))
    built = build(tmp_path, rows)
    assert built.rows("aliases", "alias") == [*"98765432", "0 foreign"]


def test_the_highest_rank_gives_the_preferred_name_and_the_source(tmp_path: Path) -> None:
    ranks = [
        line("MRRANK", RANK=rank, SAB=source, TTY=kind)
        for rank, source, kind in [
            ("0009", "LOW", "PT"),
            ("0010", "HIGH", "PT"),
            ("2", "LOW", "SY"),
        ]
    ]
    rows = [
        name("C1", "a low", SAB="LOW", TTY="PT", ISPREF="Y", TS="P", STT="PF"),
        name("C1", "z high", SAB="HIGH", TTY="PT"),
        name("C1", "z high", SAB="LOW", TTY="PT"),
        name("C1", "0 unranked", SAB="NEW", TTY="PT", ISPREF="Y"),
    ]
    built = build(tmp_path, rows, MRRANK=ranks)
    assert built.rows("concepts", "name") == ["z high"]
    assert built.rows("aliases", "alias", "source") == [
        ("z high", "HIGH"),
        ("a low", "LOW"),
        ("0 unranked", "NEW"),
    ]


def test_a_string_keeps_all_its_languages_and_spellings(tmp_path: Path) -> None:
    rows = [name("C1", "Coma"), name("C1", "coma"), name("C1", "coma", "SPA"), name("C1", "coma")]
    built = build(tmp_path, [*rows, name("C1", "other")])
    assert sorted(built.aliases()) == [
        ("C1", "ENG", "Coma"),
        ("C1", "ENG", "coma"),
        ("C1", "ENG", "other"),
        ("C1", "SPA", "coma"),
    ]
    assert built.counts["aliases_by_language"] == {"ENG": 3, "SPA": 1}


@pytest.mark.parametrize(
    ("data", "code"),
    [(None, "B001"), (b"", "T102"), (b"\x1f\x8b\x08\x00 cut off", "T102"), (b"PK\x03\x04", "T103")],
)
def test_a_missing_empty_or_alien_mrconso_is_an_error(
    data: bytes | None, code: str, tmp_path: Path
) -> None:
    if data is not None:
        write_release(tmp_path / "META", MRCONSO=[])
        (tmp_path / "META/MRCONSO.RRF").write_bytes(data)
    with pytest.raises(BergamotError, match=code) as caught:
        run(tmp_path)
    assert "MRCONSO.RRF" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_names_with_control_characters_are_dropped_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ["he\0art", "lung\x7f", "kidn\x9fey", "\x1bskull"]
    whole = ["fore\tarm", "tibia\x85", "na®"]
    rows = [*TWO, *(name("C1", text) for text in broken + whole)]
    built = build(tmp_path, rows)
    assert sorted(alias for _, _, alias in built.aliases()) == sorted(["a", "b", *whole])
    assert built.counts["dropped"] == {"names: control characters": 4}
    assert r"'he\x00art'" in caplog.text
