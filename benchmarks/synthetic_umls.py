"""RRF files of any size in UMLS's shape, from invented words; seeded, written in pieces.

    python -m benchmarks.synthetic_umls 1000000 /tmp/umls1m [--seed 0]

Shape of UMLS 2020AB: 3.6 names per concept with a heavy tail, languages in proportion, one row in
six repeats a string of its concept under another source, one name in fifty is a homonym, one row
in twelve is suppressed, 2.4 relation rows per name in both directions, 1.3 semantic types per
concept, a path in MRHIER for every second name.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

PIECE = 200_000
NAMES_PER_CONCEPT = 3.6
RELATIONS_PER_NAME = 2.4
LANGUAGES = {
    "ENG": 70.6, "SPA": 10.0, "FRE": 2.9, "POR": 2.7, "JPN": 2.1, "RUS": 1.9, "DUT": 1.9,
    "GER": 1.6, "ITA": 1.6, "CZE": 1.3, "KOR": 0.9, "HUN": 0.7, "CHI": 0.6, "NOR": 0.4,
    "POL": 0.3, "TUR": 0.2, "SWE": 0.2, "FIN": 0.1,
}  # fmt: skip
SOURCES = ["SNOMEDCT_US", "MSH", "NCI", "RXNORM", "LNC", "MDR", "ICD10CM", "CHV", "MTH", "GO"]
TERM_TYPES = ["PT", "SY", "PN", "ET", "AB", "FN"]
RELATIONS = [
    ("PAR", "inverse_isa", "CHD", "isa"), ("RB", "", "RN", ""), ("RO", "has_finding_site", "RO",
    "finding_site_of"), ("RO", "may_treat", "RO", "may_be_treated_by"), ("SIB", "", "SIB", ""),
    ("RQ", "mapped_to", "RQ", "mapped_from"), ("RO", "has_tradename", "RO", "tradename_of"),
]  # fmt: skip
RELATION_SHARES = np.array([0.25, 0.1, 0.15, 0.08, 0.25, 0.15, 0.02])
TYPES = ["T047", "T121", "T061", "T023", "T033", "T184", "T074", "T109", "T116", "T191"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", type=int, help="rows of MRCONSO")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generate(arguments.names, arguments.folder, seed=arguments.seed)


def generate(names: int, folder: Path, *, seed: int = 0) -> None:
    """Write META files with `names` rows of MRCONSO into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    concepts = max(2, round(names / NAMES_PER_CONCEPT))
    _write(folder / "MRCONSO.RRF", _conso(names, concepts, seed))
    _write(folder / "MRREL.RRF", _rel(round(names * RELATIONS_PER_NAME / 2), concepts, seed))
    _write(folder / "MRSTY.RRF", _sty(concepts, seed))
    _write(folder / "MRHIER.RRF", _hier(names // 2, concepts, seed))
    ranks = [f"{n:04}|{s}|{t}|N|" for n, (s, t) in enumerate(_ranked())]
    (folder / "MRRANK.RRF").write_text("\n".join(ranks) + "\n", encoding="utf8")


def _ranked() -> Iterator[tuple[str, str]]:
    return ((source, kind) for source in SOURCES for kind in TERM_TYPES)


def _conso(names: int, concepts: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield MRCONSO in order of concept; a concept's share of the rows is Pareto-distributed."""
    weights = np.random.default_rng([seed, 0]).pareto(1.6, concepts).astype(np.float32) + 0.4
    ends = np.cumsum(weights, dtype=np.float64)
    ends *= names / ends[-1]
    words = _words(seed)
    for start in range(0, names, PIECE):
        rng = np.random.default_rng([seed, 1, start])
        rows = np.arange(start, min(start + PIECE, names))
        concept = np.searchsorted(ends, rows, side="right").clip(max=concepts - 1)
        language = _choice(rng, list(LANGUAGES), np.array(list(LANGUAGES.values())), len(rows))
        text = _strings(rng, words, len(rows), rows)
        preferred = np.r_[True, concept[1:] != concept[:-1]]
        yield pl.DataFrame(
            {
                "CUI": _ids("C", concept + 1),
                "LAT": language,
                "TS": np.where(preferred, "P", "S"),
                "LUI": _ids("L", rows),
                "STT": "PF",
                "SUI": _ids("S", rows),
                "ISPREF": np.where(rng.random(len(rows)) < 0.5, "Y", "N"),
                "AUI": _ids("A", rows),
                "SAUI": "",
                "SCUI": "",
                "SDUI": "",
                "SAB": _choice(rng, SOURCES, None, len(rows)),
                "TTY": _choice(rng, TERM_TYPES, None, len(rows)),
                "CODE": _ids("", rng.integers(1, 10**8, len(rows))),
                "STR": text,
                "SRL": "0",
                "SUPPRESS": np.where(rng.random(len(rows)) < 1 / 12, "O", "N"),
                "CVF": "256",
            }
        )


def _strings(rng: np.random.Generator, words: pl.Series, count: int, rows: np.ndarray) -> pl.Series:
    """Return names of 1 to 7 words; one in six repeats the row above, one in fifty is common."""
    lengths = rng.choice(7, count, p=[0.12, 0.27, 0.24, 0.16, 0.1, 0.07, 0.04]) + 1
    picked = (rng.random((count, 7)) ** 1.5 * len(words)).astype(np.int64)
    common = rng.random(count) < 0.02
    picked[common] = (rng.integers(0, 2000, (int(common.sum()), 1)) * np.arange(1, 8)) % len(words)
    lengths[common] = 1 + picked[common, 0] % 2
    columns = [
        pl.when(pl.Series(lengths > i)).then(words.gather(picked[:, i])).alias(f"w{i}")
        for i in range(7)
    ]
    columns[0] = words.gather(picked[:, 0])
    # A name of one word would be that of thousands of concepts: its word is made of two.
    tail = pl.when(pl.Series((lengths == 1) & ~common)).then(words.gather(picked[:, 1]))
    first = pl.concat_str([columns[0], tail], ignore_nulls=True)
    joined = pl.concat_str([first, *columns[1:]], separator=" ", ignore_nulls=True)
    text = pl.select(joined).to_series()
    source = np.arange(count)
    repeats = rng.random(count) < 1 / 6
    repeats[0] = False
    source[repeats] -= 1
    return text.gather(source)


def _words(seed: int) -> pl.Series:
    """Return 80,000 invented words; the first are short and, by use, the most frequent."""
    rng = np.random.default_rng([seed, 2])
    consonants, vowels = list("bcdfghjklmnprstvxz"), list("aeiouy")
    syllables = np.array([c + v for c in consonants for v in vowels])
    parts = [syllables[rng.integers(0, len(syllables), 80_000)] for _ in range(5)]
    sizes = 2 + (np.arange(80_000) * 4 // 80_000)
    return pl.Series(
        ["".join(p[i] for p in parts[: sizes[i]]) for i in range(80_000)], dtype=pl.String
    )


def _rel(pairs: int, concepts: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield MRREL, each relation in both directions; hubs have a heavy tail."""
    for start in range(0, pairs, PIECE):
        rng = np.random.default_rng([seed, 3, start])
        count = min(PIECE, pairs - start)
        one = rng.integers(0, concepts, count)
        other = (rng.random(count) ** 2 * concepts).astype(np.int64)
        label = rng.choice(len(RELATIONS), count, p=RELATION_SHARES)
        source = _choice(rng, SOURCES, None, count)
        suppress = np.where(rng.random(count) < 0.03, "O", "N")
        for head, tail, side in ((one, other, 0), (other, one, 2)):
            names = [RELATIONS[i][side] for i in range(len(RELATIONS))]
            additional = [RELATIONS[i][side + 1] for i in range(len(RELATIONS))]
            yield pl.DataFrame(
                {
                    "CUI1": _ids("C", head + 1),
                    "AUI1": _ids("A", head),
                    "STYPE1": "AUI",
                    "REL": pl.Series(names).gather(label),
                    "CUI2": _ids("C", tail + 1),
                    "AUI2": _ids("A", tail),
                    "STYPE2": "AUI",
                    "RELA": pl.Series(additional).gather(label),
                    "RUI": _ids("R", np.arange(start, start + count) * 2 + side // 2),
                    "SRUI": "",
                    "SAB": source,
                    "SL": source,
                    "RG": "",
                    "DIR": "",
                    "SUPPRESS": suppress,
                    "CVF": "",
                }
            )


def _sty(concepts: int, seed: int) -> Iterator[pl.DataFrame]:
    for start in range(0, concepts, PIECE):
        rng = np.random.default_rng([seed, 4, start])
        rows = np.arange(start, min(start + PIECE, concepts))
        rows = np.sort(np.concatenate([rows, rows[rng.random(len(rows)) < 0.3]]))
        yield pl.DataFrame(
            {
                "CUI": _ids("C", rows + 1),
                "TUI": _choice(rng, TYPES, None, len(rows)),
                "STN": "A1",
                "STY": "Invented",
                "ATUI": _ids("AT", rows),
                "CVF": "256",
            }
        )


def _hier(rows: int, concepts: int, seed: int) -> Iterator[pl.DataFrame]:
    for start in range(0, rows, PIECE):
        rng = np.random.default_rng([seed, 5, start])
        count = min(PIECE, rows - start)
        path = [_ids("A", rng.integers(0, concepts, count)) for _ in range(6)]
        yield pl.DataFrame(
            {
                "CUI": _ids("C", rng.integers(1, concepts + 1, count)),
                "AUI": _ids("A", np.arange(start, start + count)),
                "CXN": "1",
                "PAUI": path[-1],
                "SAB": _choice(rng, SOURCES, None, count),
                "RELA": "isa",
                "PTR": pl.select(pl.concat_str(path, separator=".")).to_series(),
                "HCD": "",
                "CVF": "",
            }
        )


def _choice(
    rng: np.random.Generator, values: list[str], shares: np.ndarray | None, count: int
) -> pl.Series:
    p = None if shares is None else shares / shares.sum()
    return pl.Series(values).gather(rng.choice(len(values), count, p=p))


def _ids(letter: str, numbers: np.ndarray) -> pl.Series:
    padded = pl.Series(numbers).cast(pl.String).str.zfill(7 if letter == "C" else 8)
    return pl.select(pl.lit(letter) + padded).to_series()


def _write(path: Path, pieces: Iterator[pl.DataFrame]) -> None:
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as out:
        for piece in pieces:
            closed = piece.with_columns(END=pl.lit(""))
            closed.write_csv(out, include_header=False, separator="|", quote_style="never")
    temporary.replace(path)


if __name__ == "__main__":
    main()
