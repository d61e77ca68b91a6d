"""MentionKeys: the keys of a knowledge base's aliases in a folder, memory-mapped.

- keys.npy        sorted 64-bit keys of the aliases, not their text.
- languages.npy, groups.npy   for every key numbers of languages and semantic groups. A key has a
  row for every language and group; that of the first concept comes first.
- folded_keys.npy, folded_languages.npy, folded_groups.npy   the same of folded forms, sorted; a row
  for every alias that has one (`spacy_bergamot.mentions.folded`).
- spelling_keys.npy, spelling_words.npy, spelling_counts.npy   spellings of the names' words, by
  which misspelt ones are corrected (`spacy_bergamot.mentions.misspelt`).
- manifest.json   names of languages and groups, fingerprints of the concept table and its changes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.hashing import WindowKeys
from spacy_bergamot.kb.concept_table import ConceptTable, Name
from spacy_bergamot.languages import NO_LANGUAGE, lat
from spacy_bergamot.mentions.folded import Corrected, FoldedText
from spacy_bergamot.mentions.misspelt import Spellings, Word, counted_words
from spacy_bergamot.mentions.rows import Rows
from spacy_bergamot.mentions.table_names import crowded, is_short_form, names_of
from spacy_bergamot.name_keys import CAPITALS, folded_key, folded_name, keyed
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from spacy_bergamot.text import unbroken

KIND = "mention-keys"
VERSION = 4
_FIELDS = {"languages": list, "groups": list, "longest": int, "table": str}
_KINDS = ("", "folded_")
_SPELLING = "spelling_"


class MentionKeys:
    """A dictionary on disk; make it with `MentionKeys.write` or `MentionKeys.changed`.

    longest (int): Characters of the longest alias in normal form.
    crowded (list[int]): Letters of the abbreviations that are left out, as there are too many.
    table (str): Fingerprint of the concept table.
    changes (str | None): Of its changes.
    """

    def __init__(self, path: Path, *, checksums: bool = True) -> None:
        manifest = read_manifest(
            path, kind=KIND, version=VERSION, fields=_FIELDS, checksums=checksums
        )
        self.languages: list[str] = manifest["languages"]
        self.groups: list[str] = manifest["groups"]
        self.longest: int = manifest["longest"]
        self.crowded: list[int] = manifest.get("crowded", [])
        self.table: str = manifest["table"]
        self.changes: str | None = manifest["changes"]
        self.rows, self.folded = (
            Rows(*(np.load(path / f"{kind}{name}.npy", mmap_mode="r") for name in Rows._fields))
            for kind in _KINDS
        )
        self.spellings = Spellings(
            *(np.load(path / f"{_SPELLING}{n}.npy", mmap_mode="r") for n in Spellings._fields)
        )

    def __len__(self) -> int:
        """Return the number of distinct keys."""
        keys = self.rows.keys
        return int((keys[1:] != keys[:-1]).sum()) + 1 if len(keys) else 0

    @staticmethod
    def write(path: Path, table: ConceptTable) -> None:
        """Write the dictionary of a concept table.

        path (Path): The folder.
        table (ConceptTable): The knowledge base.
        """
        found = _Numbered([], [], crowded=crowded(table))
        parts = [found.rows(names) for names in names_of(table)]
        spellings = Spellings.of(found.words)
        found.save(path, *_distinct(parts), spellings, table=table.fingerprint, changes=None)

    def changed(
        self,
        path: Path,
        names: Iterable[str],
        before: Iterable[Name],
        now: Iterable[Name],
        *,
        added: Collection[str] = (),
        changes: str | None,
    ) -> None:
        """Write the dictionary that has, of some names, only those that there are now.

        path (Path): The folder of the new one.
        names (Iterable[str]): Aliases that were or are; every row of their keys goes.
        before (Iterable[Name]): All that there were of these.
        now (Iterable[Name]): All that there are of these.
        added (Collection[str]): Aliases that somebody has added: in it however crowded.
        changes (str | None): Fingerprint of the changes.
        """
        found = _Numbered(
            self.languages, self.groups, self.longest, crowded=self.crowded, added=added
        )
        gone = np.isin(self.rows.keys, WindowKeys.of(map(keyed, names)))
        _, were = _distinct([found.rows(before)])
        spellings = self.spellings.minus(Spellings.of(found.words))
        found.words.clear()
        rows, folded = _distinct([found.rows(now)])
        spellings = spellings.plus(Spellings.of(found.words))
        rows = Rows.joined([self.rows.of(np.flatnonzero(~gone)), rows])
        folded = Rows.joined([self.folded.without(were), folded])
        found.save(path, rows, folded, spellings, table=self.table, changes=changes)

    def of_languages(self, wanted: Iterable[str]) -> np.ndarray:
        """Return which languages are among some, bool (l,): those of no language always.

        wanted (Iterable[str]): MRCONSO.RRF's codes, or ISO 639-1; all if there are none.
        """
        codes = set(map(lat, wanted))
        known = [
            not codes or lat(language) in codes or language in NO_LANGUAGE
            for language in self.languages
        ]
        return np.array(known, dtype=bool)

    def of_groups(self, wanted: Iterable[str], *, discarded: Iterable[str] = ()) -> np.ndarray:
        """Return which groups are among some, bool (g,); if there are none, all but others.

        wanted (Iterable[str]): Semantic groups.
        discarded (Iterable[str]): Groups that are left out where none is wanted.
        """
        named, others = set(wanted), set(discarded)
        marked = [group in named if named else group not in others for group in self.groups]
        return np.array(marked, dtype=bool)

    def corrected(self, text: FoldedText, languages: Sequence[str]) -> Corrected:
        """Return the words of a text as the names of its language, or of none, have them.

        text (FoldedText): The text in one language.
        languages (list[str]): All that the text may be in.
        """
        anywhere = [lat(code) for code in self.languages if code in NO_LANGUAGE]
        return self.spellings.corrected(
            text, own=[text.language, *anywhere], languages=[*languages, *anywhere]
        )

    def check(self, *, languages: Sequence[str], groups: Sequence[str], name: str) -> None:
        """Refuse settings that the dictionary does not know.

        languages (Sequence[str]): MRCONSO.RRF's codes, or ISO 639-1.
        groups (Sequence[str]): Semantic groups.
        name (str): Of the component, for errors.
        RAISES (BergamotError): B033.
        """
        checks = {
            "languages": (map(lat, languages), set(map(lat, self.languages))),
            "groups": (groups, set(self.groups)),
        }
        for what, (wanted, known) in checks.items():
            for value in wanted:
                if value not in known:
                    shown = ", ".join(sorted(known))
                    raise BergamotError(Errors.B033, value=value, what=what, name=name, known=shown)


class _Numbered:
    """Languages and groups by number, in the order in which they are met, and words of names.

    words (Counter): How many of the names that were met have each word.
    crowded (Sequence[int]): Letters of abbreviations that are left out, unless somebody added them.
    """

    def __init__(
        self,
        languages: Sequence[str],
        groups: Sequence[str],
        longest: int = 0,
        *,
        crowded: Sequence[int],
        added: Collection[str] = (),
    ) -> None:
        self.languages = {language: number for number, language in enumerate(languages)}
        self.groups = {group: number for number, group in enumerate(groups)}
        self.longest, self.crowded, self._added = longest, crowded, added
        self.words: Counter[Word] = Counter()

    def rows(self, names: Iterable[Name]) -> tuple[Rows, np.ndarray]:
        """Return the rows of names and the keys of their folded forms, 0 for a name without one.

        Names without a letter are left out, as numbers alone are no mentions.
        """
        kept = [
            name
            for name in names
            if any(map(str.isalpha, name.alias)) and not self._is_left_out(name.alias)
        ]
        texts = [keyed(name.alias) for name in kept]
        self.longest = max([self.longest, *map(len, texts)])
        languages = (self.languages.setdefault(n.language, len(self.languages)) for n in kept)
        groups = (self.groups.setdefault(n.group, len(self.groups)) for n in kept)
        numbers = [np.fromiter(of, dtype=np.uint16) for of in (languages, groups)]
        folded = (
            0 if text.startswith(CAPITALS) else self._folded(name.alias, lat(name.language))
            for name, text in zip(kept, texts, strict=True)
        )
        return Rows(WindowKeys.of(texts), *numbers), np.fromiter(folded, dtype=np.uint64)

    def _is_left_out(self, alias: str) -> bool:
        """Tell whether an alias is an abbreviation of a length that has too many of them."""
        return is_short_form(alias) and len(alias) in self.crowded and alias not in self._added

    def _folded(self, alias: str, language: str) -> int:
        """Return the key of an alias's folded form, 0 if it has none; count the words of it."""
        alias = unbroken(alias)
        words = folded_name(alias, language)
        self.words.update(counted_words(alias, words, language))
        return folded_key(words)

    def save(
        self,
        path: Path,
        rows: Rows,
        folded: Rows,
        spellings: Spellings,
        *,
        table: str,
        changes: str | None,
    ) -> None:
        """Write rows in the order of their keys, and spellings."""
        with atomic_folder(path) as folder:
            for kind, part in zip(_KINDS, (rows, folded), strict=True):
                for name, column in zip(Rows._fields, part.ordered(), strict=True):
                    np.save(folder / f"{kind}{name}.npy", column)
            for name, column in zip(Spellings._fields, spellings, strict=True):
                np.save(folder / f"{_SPELLING}{name}.npy", column)
            write_manifest(
                folder,
                kind=KIND,
                version=VERSION,
                languages=list(self.languages),
                groups=list(self.groups),
                longest=self.longest,
                crowded=list(self.crowded),
                rows=len(rows.keys),
                table=table,
                changes=changes,
            )


def _distinct(parts: Sequence[tuple[Rows, np.ndarray]]) -> tuple[Rows, Rows]:
    """Return distinct rows, and the folded ones of the same aliases."""
    every = Rows.joined([rows for rows, _ in parts])
    keys = np.concatenate([np.empty(0, dtype=np.uint64), *(folded for _, folded in parts)])
    first = every.distinct()
    rows = every.of(first)
    folded = rows._replace(keys=keys[first])
    return rows, folded.of(np.flatnonzero(folded.keys))
