"""The names of a concept table as a dictionary takes them: what abbreviations among them mean.

Large knowledge bases have a rare disease for one in ten of all abbreviations of three letters, so
that those of a note ("NAD", "MSK") are names by chance. Of so many letters none is taken.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow.compute as pc

from spacy_bergamot.kb.concept_table import ConceptTable, Name
from spacy_bergamot.name_keys import ABBREVIATION

_CHUNK = 1 << 16
_CROWDED = 0.01  # share of all short forms of n letters from which on one is a name by chance
_LETTERS = 26
_SHORT_FORM = re.compile(rf"[A-Z]{{2,{ABBREVIATION}}}")
_UNSAID = 2  # words of a name whose initials may be left out
_WORD = re.compile(r"[^\W\d_]+")


def is_short_form(alias: str) -> bool:
    """Tell whether an alias is an abbreviation of two Latin capitals or a few more.

    alias (str): As it is written.
    """
    return _SHORT_FORM.fullmatch(alias) is not None


def crowded(table: ConceptTable) -> list[int]:
    """Return of how many letters too many short forms are names, so that one means nothing.

    table (ConceptTable): The knowledge base.
    """
    aliases = table.column("aliases", "alias").unique()
    short = aliases.filter(pc.match_substring_regex(aliases, f"^{_SHORT_FORM.pattern}$"))
    counts = Counter(pc.utf8_length(short).to_pylist())
    return [n for n, count in sorted(counts.items()) if count > _CROWDED * _LETTERS**n]


def names_of(table: ConceptTable) -> Iterator[Iterable[Name]]:
    """Yield the names of a table in pieces; initials in capitals.

    table (ConceptTable): The knowledge base.
    """
    groups = [""] * len(table)
    for concept, group in zip(
        table.keys("types").tolist(), table.types.column("group").to_pylist(), strict=True
    ):
        groups[concept] = group
    concepts = table.keys("aliases")
    aliases, languages = (table.column("aliases", name) for name in ("alias", "language"))
    in_capitals = set(_initialisms(table))
    for start in range(0, len(concepts), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        written = enumerate(aliases[chunk].to_pylist(), start)
        yield map(
            Name,
            (name.upper() if row in in_capitals else name for row, name in written),
            languages[chunk].to_pylist(),
            (groups[concept] for concept in concepts[chunk].tolist()),
        )


def _initialisms(table: ConceptTable) -> Iterator[int]:
    """Yield the rows of names in small letters that are the initials of another of their concept.

    Some sources have "bed" (Bornholm eye disease) and "rich" so; they are read as "BED" and "RICH".
    """
    aliases, concepts = table.column("aliases", "alias"), table.keys("aliases")
    short = pc.and_(pc.utf8_is_lower(aliases), pc.less_equal(pc.utf8_length(aliases), ABBREVIATION))
    for row in np.flatnonzero(short.to_numpy(zero_copy_only=False)).tolist():
        name, others = aliases[row].as_py(), table.span_of("aliases", int(concepts[row]))
        if name.isalpha() and any(_initials(name, aliases[n].as_py().lower()) for n in others):
            yield row


def _initials(short: str, name: str) -> bool:
    """Tell whether letters are the initials of a name's words, but for two of them at most."""
    initials = [word[0] for word in _WORD.findall(name)]
    left = iter(initials)
    return (
        0 <= len(initials) - len(short) <= _UNSAID
        and initials[0] == short[0]
        and all(letter in left for letter in short)
    )
