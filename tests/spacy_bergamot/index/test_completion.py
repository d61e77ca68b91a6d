"""Names that begin with a text: those that a plain loop finds, the shortest first."""

import numpy as np
import pytest

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.completion import completions
from spacy_bergamot.text import normalize


@pytest.mark.parametrize("text", ["c", "co", "heart", "hy", "高", "x", "", "сахарный диабет"])
def test_concepts_are_those_with_a_name_that_begins_so(index: AliasIndex, text: str):
    names = index.table.column("aliases", "alias").to_pylist()
    owners = index.table.keys("aliases").tolist()
    expected: dict[int, int] = {}
    for name, owner in zip(map(normalize, names), owners, strict=True):
        if text and name.startswith(text):
            expected[owner] = min(len(name), expected.get(owner, len(name)))
    found = completions(index, text, limit=100)
    assert {owners[one.alias]: one.place[0] for one in found} == expected
    assert [one.place for one in found] == sorted(one.place for one in found)
    assert completions(index, text, limit=1) == found[:1]


def test_a_removed_name_completes_nothing(index: AliasIndex):
    (whole,) = completions(index, "common c", limit=3)
    removed = np.zeros(index.table.aliases.num_rows, dtype=bool)
    removed[whole.alias] = True
    assert completions(index, "common c", limit=3, removed=removed) == []
