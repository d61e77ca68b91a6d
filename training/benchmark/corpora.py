"""The parts of a benchmark's corpus: which documents and mentions count, with concepts as ids."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from training.corpora.mapping import map_concepts
from training.corpora.registry import read_corpus
from training.corpora.schema import Corpus
from training.corpora.splits import select_documents
from training.errors import BergamotError, Errors


def part_path(settings: dict[str, Any], root: Path, part: str) -> Path:
    """Return where a part of a corpus is.

    settings (dict): The section [corpus]. root (Path): The corpus. part (str): test or train.
    RAISES (BergamotError): T282 if it is not there, with where it is to be had.
    """
    path = root / settings[part]
    listed = [root / settings[f"{part}_ids"]] if settings[f"{part}_ids"] else []
    for wanted in (path, *listed):
        if not wanted.exists():
            sets, form = ", ".join(settings["sets"]), settings["form"]
            facts = {"path": wanted, "home": settings["home"], "form": form or "known by itself"}
            raise BergamotError(Errors.T282, sets=sets, **facts)
    return path


def read_part(settings: dict[str, Any], root: Path, part: str, table: ConceptTable) -> Corpus:
    """Read a part of a corpus.

    settings, root, part: As of `part_path`.
    table (ConceptTable): Whose ids the gold ids are mapped to.
    RAISES (BergamotError): T296 if no mention is left, else as reading and mapping do.
    """
    path = part_path(settings, root, part)
    if (path / "mentions.arrow").is_file():
        corpus = Corpus.open(path)
    else:
        corpus = read_corpus(path, settings["form"] or None, settings["language"])
    if settings[f"{part}_ids"]:
        corpus = select_documents(corpus, root / settings[f"{part}_ids"])
    globs = [glob for given in settings["sets"].values() for glob in _listed(given)]
    wanted = _of_fold(settings["parts"], settings["fold"], part)
    labels = set(settings["labels"])
    corpus = _kept(
        corpus,
        lambda name: matches(name, globs) and (not wanted or matches(name, wanted)),
        lambda label: not labels or not labels.isdisjoint(label.split(",")),
    )
    if not corpus.mentions.num_rows:
        what = f"mention of {', '.join([*globs, *wanted, *labels])}"
        remedy = "Correct sets, parts and labels of the corpus."
        raise BergamotError(Errors.T296, path=path, what=what, remedy=remedy)
    codes, mrcui = (Path(settings[key]) if settings[key] else None for key in ("codes", "mrcui"))
    vocabulary = settings["vocabulary"]
    return map_concepts(corpus, table, vocabulary=vocabulary, codes=codes, mrcui=mrcui)[0]


def set_of(document: str, sets: dict[str, Any]) -> str:
    """Return the set that a document belongs to, the first whose pattern it has."""
    return next(name for name, given in sets.items() if matches(document, _listed(given)))


def matches(name: str, globs: Sequence[str]) -> bool:
    """Tell whether a document's name has one of some patterns."""
    return any(fnmatchcase(name, glob) for glob in globs)


def without_composites(corpus: Corpus) -> Corpus:
    """Return the corpus with concepts that are right together as alternatives to look for."""
    column = corpus.mentions.schema.get_field_index("all_of")
    flags = pa.array([False] * corpus.mentions.num_rows, pa.bool_())
    field = corpus.mentions.schema.field(column)
    return replace(corpus, mentions=corpus.mentions.set_column(column, field, flags))


def _of_fold(parts: Sequence[str], fold: int, part: str) -> list[str]:
    """Return the documents of a fold: it is tested on, and the one before it is held back."""
    if not parts:
        return []
    test = (fold - 1) % len(parts)
    if part == "test":
        return [parts[test]]
    return [one for at, one in enumerate(parts) if at not in (test, (test - 1) % len(parts))]


def _kept(
    corpus: Corpus, has_name: Callable[[str], bool], has_label: Callable[[str], bool]
) -> Corpus:
    documents, mentions = corpus.documents, corpus.mentions
    names = [has_name(name) for name in documents["document"].to_pylist()]
    columns = (mentions[column].to_pylist() for column in ("document", "type"))
    both = [has_name(name) and has_label(label) for name, label in zip(*columns, strict=True)]
    return replace(corpus, documents=documents.filter(names), mentions=mentions.filter(both))


def _listed(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
