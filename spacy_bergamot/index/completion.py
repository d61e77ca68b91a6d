"""Names that begin with what somebody has typed so far."""

from bisect import bisect_left
from operator import methodcaller
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.ragged import expand

_LAST = "\U0010ffff"
_MOST = 20_000
"""Names that are compared, the shortest first: one letter begins millions."""


class Completion(NamedTuple):
    """A name that begins with a text: the row of its alias, and its place.

    place (tuple[int, int]): The smallest comes first: short names, of those of the same length
        that of the concept with the most names, which is the one most often meant.
    """

    place: tuple[int, int]
    alias: int


def completions(
    index: AliasIndex, text: str, *, limit: int, removed: np.ndarray | None = None
) -> list[Completion]:
    """Return the best name of each of at most `limit` concepts, best first.

    index (AliasIndex): Whose names they are.
    text (str): In normal form; one without characters begins nothing.
    removed (np.ndarray | None): bool, the aliases that are never returned.
    """
    if not text:
        return []
    as_text = methodcaller("as_py")
    start = bisect_left(index.strings, text, key=as_text)
    end = bisect_left(index.strings, text + _LAST, start, key=as_text)
    lengths = pa.compute.utf8_length(index.strings.slice(start, end - start)).to_numpy()
    strings = np.arange(start, end)
    if len(strings) > _MOST:
        shortest = np.argpartition(lengths, _MOST)[:_MOST]
        strings, lengths = strings[shortest], lengths[shortest]
    aliases, row = expand(index.indptr, index.postings, strings)
    lengths = lengths[row]
    if removed is not None:
        aliases, lengths = aliases[~removed[aliases]], lengths[~removed[aliases]]
    owners = index.table.keys("aliases")
    concepts = owners[aliases]
    names = np.searchsorted(owners, concepts + 1) - np.searchsorted(owners, concepts)
    order = np.lexsort((concepts, -names, lengths))
    _, first = np.unique(concepts[order], return_index=True)
    return [
        Completion((int(lengths[row]), -int(names[row])), int(aliases[row]))
        for row in order[np.sort(first)[:limit]]
    ]
