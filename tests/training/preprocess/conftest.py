"""Invented releases in RRF: rows are given by what matters, the other columns are filled in."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.rrf_writer import rrf_line
from spacy_bergamot.storage.arrow_files import read_arrow
from training.preprocess.cli import preprocess
from training.preprocess.pairs import Caps
from training.preprocess.training_set import TrainingSet

CAPS = Caps(50, 50, 50)
DEFAULTS = {
    "MRCONSO": {"LAT": "ENG", "TS": "S", "STT": "VO", "ISPREF": "N", "SAB": "SRC", "TTY": "SY"},
    "MRREL": {"REL": "RO", "RELA": "", "SAB": "SRC"},
    "MRSTY": {},
    "MRDEF": {"SAB": "SRC"},
    "MRRANK": {},
    "MRSAB": {},
    "MRHIER": {"SAB": "SRC", "CXN": "1"},
}


def line(table: str, **values: str) -> str:
    """Return a line of a table."""
    return rrf_line(table, {"SUPPRESS": "N", **DEFAULTS[table], **values})


def name(cui: str, text: str, language: str = "ENG", **values: str) -> str:
    """Return a line of MRCONSO."""
    return line("MRCONSO", CUI=cui, STR=text, LAT=language, **values)


def relation(head: str, tail: str, rel: str = "RO", rela: str = "", **values: str) -> str:
    """Return a line of MRREL."""
    return line("MRREL", CUI1=head, CUI2=tail, REL=rel, RELA=rela, **values)


def write_release(folder: Path, **tables: Iterable[str]) -> Path:
    """Write lines as META files; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, lines in tables.items():
        text = "".join(f"{entry}\n" for entry in lines)
        (folder / f"{table}.RRF").write_bytes(text.encode("utf8"))
    return folder


class Run:
    """A finished run of `preprocess`, read back as plain Python."""

    def __init__(self, folder: Path, manifests: dict[str, dict[str, Any]]) -> None:
        self.folder = folder
        self.manifests = manifests
        self.counts = manifests["kb"]["counts"]
        self.train = TrainingSet.open(folder / "train")
        self.cuis: list[str] = self.rows("concepts", "concept_id")
        self.strings: list[str] = self.train.names.to_pylist()

    def rows(self, table: str, *columns: str) -> list[Any]:
        """Return rows of a table of the knowledge base; plain values if of one column."""
        arrow = read_arrow(self.folder / f"kb/{table}.arrow")
        values = [arrow.column(column).cast(pa.large_string()).to_pylist() for column in columns]
        return values[0] if len(values) == 1 else list(zip(*values, strict=True))

    def aliases(self) -> list[tuple[str, str, str]]:
        """Return (CUI, language, alias) in the table's order."""
        rows = self.rows("aliases", "concept", "language", "alias")
        return [(self.cuis[int(row)], language, alias) for row, language, alias in rows]

    def pairs(self) -> list[tuple[str, str, str]]:
        """Return (CUI, name, name) in the file's order."""
        rows = self.train.pairs.tolist()
        return [(self.cuis[c], self.strings[a], self.strings[b]) for c, a, b in rows]

    def node_names(self) -> dict[str, list[str]]:
        """Return the names of every node."""
        lists = self._lists(self.train.node_names_indptr, self.train.node_names)
        return {
            cui: [self.strings[i] for i in ids] for cui, ids in zip(self.cuis, lists, strict=True)
        }

    def homonyms(self) -> dict[str, list[str]]:
        """Return the homonyms of every concept."""
        lists = self._lists(self.train.homonyms_indptr, self.train.homonyms)
        return {cui: [self.cuis[i] for i in ids] for cui, ids in zip(self.cuis, lists, strict=True)}

    def edges(self) -> list[tuple[str, str, str]]:
        """Return (target, source, label) in the file's order."""
        data = self.train
        sources = self._lists(data.graph_indptr, data.graph_sources)
        relations = self._lists(data.graph_indptr, data.graph_relations)
        return [
            (target, self.cuis[s], data.relation_labels[r])
            for target, ss, rs in zip(self.cuis, sources, relations, strict=True)
            for s, r in zip(ss, rs, strict=True)
        ]

    def queries(self) -> dict[str, list[str]]:
        """Return the lines of every language's queries."""
        files = sorted((self.folder / "eval/queries").glob("*.txt"))
        return {file.stem: file.read_text("utf8").split("\n")[:-1] for file in files}

    def dictionary(self) -> list[str]:
        """Return the lines of the dictionary."""
        return (self.folder / "eval/dictionary.txt").read_text("utf8").split("\n")[:-1]

    @staticmethod
    def _lists(indptr: Sequence[int], values: Sequence[int]) -> list[list[int]]:
        return [values[a:b].tolist() for a, b in pairwise(indptr)]


def run(folder: Path, *, filters: Filters | None = None, **options: Any) -> Run:
    """Preprocess folder/META into folder/out; see `preprocessed`."""
    given = {"filters": filters} if filters else {}
    return Run(folder / "out", preprocessed(folder / "META", folder / "out", **given, **options))


def preprocessed(meta: Path, output: Path, **options: Any) -> dict[str, dict[str, Any]]:
    """Preprocess a release; nothing is held out unless told otherwise."""
    settings: dict[str, Any] = {
        "filters": Filters(),
        "caps": CAPS,
        "english_crosslingual_only": True,
        "relation_label": "rel",
        "train_languages": (),
        "add_inverses": False,
        "held_out": 0.0,
        "valid_concepts": 0.0,
        "seed": 0,
        "max_malformed": 0.001,
        "training_set": True,
    }
    return preprocess(meta, output, **{**settings, **options})


def build(folder: Path, names: Iterable[str], relations: Iterable[str] = (), **options: Any) -> Run:
    """Write a release of names and relations, and preprocess it."""
    tables = {key: options.pop(key) for key in list(options) if key.startswith("MR")}
    write_release(folder / "META", MRCONSO=names, MRREL=relations, **tables)
    return run(folder, **options)


TWO = [name("C1", "a"), name("C1", "b")]


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    """A release of one concept with two names."""
    return write_release(tmp_path / "META", MRCONSO=TWO)
