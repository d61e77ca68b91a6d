"""FoldedStrings: the strings of an index by the folded forms of their aliases.

An alias is folded by the rules of its language (`spacy_bergamot.folding`), so that a string has a
folded form per language that it is an alias in.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from spacy_bergamot.hashing import find_keys
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.languages import lat
from spacy_bergamot.name_keys import CAPITALS, folded_key, folded_name, keyed
from spacy_bergamot.ragged import expand
from spacy_bergamot.text import unbroken

_FILES = ("folded_keys", "folded_strings", "folded_languages")
_CHUNK = 1 << 16


class FoldedStrings:
    """Folded forms, memory-mapped; an index that was made before it had them has none.

    path (Path): Folder of the index.
    codes (list[str]): Its table's languages.
    """

    def __init__(self, path: Path, codes: Iterable[str]) -> None:
        self._codes = np.array([*map(lat, codes)], dtype=object)
        kept = all((path / f"{name}.npy").exists() for name in _FILES)
        self._keys, self._strings, self._languages = (
            # As a plain array, of which numpy takes rows faster.
            np.load(path / f"{name}.npy", mmap_mode="r").view(np.ndarray)
            if kept
            else np.empty(0, dtype=np.uint64)
            for name in _FILES
        )

    def find(self, name: str, languages: Iterable[str]) -> np.ndarray:
        """Return the strings (int64, sorted) with an alias of the name's folded form.

        name (str): As it is written, or in normal form.
        languages (Iterable[str]): In which it is folded, and the alias is to be; as in
            MRCONSO.RRF.
        """
        found = [self._in_language(name, language) for language in languages]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))

    def _in_language(self, name: str, language: str) -> np.ndarray:
        words = folded_name(name, language)
        key = np.array([folded_key(words)], dtype=np.uint64)
        (first,) = find_keys(self._keys, key)
        if not words or first < 0:
            return np.empty(0, dtype=np.int64)
        rows = slice(first, np.searchsorted(self._keys, key[0], side="right"))
        same = self._codes[self._languages[rows]] == language
        return self._strings[rows][same].astype(np.int64)

    @staticmethod
    def write(folder: Path, table: ConceptTable) -> None:
        """Write the folded forms of a table's aliases beside the strings of its index.

        folder (Path): Of the index, with its postings.
        table (ConceptTable): The knowledge base.
        """
        indptr, postings = (
            np.load(folder / f"{name}.npy") for name in ("postings_indptr", "postings")
        )
        aliases, string = expand(indptr, postings, np.arange(len(indptr) - 1))
        string_of = np.full(table.aliases.num_rows, -1, dtype=np.int32)
        string_of[aliases] = string
        keys = np.fromiter(_keys(table), dtype=np.uint64, count=len(string_of))
        language = table.column("aliases", "language").indices.to_numpy().astype(np.uint16)
        rows = np.flatnonzero((keys > 0) & (string_of >= 0))
        order = rows[np.lexsort((string_of[rows], language[rows], keys[rows]))]
        columns = (keys[order], string_of[order], language[order])
        for name, column in zip(_FILES, columns, strict=True):
            np.save(folder / f"{name}.npy", column)


def _keys(table: ConceptTable) -> Iterator[int]:
    """Yield the key of every alias's folded form, 0 where it has none."""
    aliases, languages = (table.column("aliases", name) for name in ("alias", "language"))
    for start in range(0, len(aliases), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        for alias, code in zip(
            aliases[chunk].to_pylist(), languages[chunk].to_pylist(), strict=True
        ):
            in_capitals = keyed(alias).startswith(CAPITALS)  # "FIRES" is no plural
            yield 0 if in_capitals else folded_key(folded_name(unbroken(alias), lat(code)))
