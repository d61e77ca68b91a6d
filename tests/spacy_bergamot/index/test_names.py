"""Names of an index: as plain loops over its concepts find them, before and after changes."""

from collections import Counter

import pytest

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.text import normalize


def concepts_by_name(kb: KnowledgeBase) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for concept_id in kb:
        for row in kb.aliases(concept_id):
            found.setdefault(normalize(row["alias"]), set()).add(concept_id)
    return found


@pytest.mark.parametrize("which", ["kb", "changed"])
def test_all_ways_to_a_name_agree(request: pytest.FixtureRequest, which: str):
    kb = request.getfixturevalue(which)
    named = concepts_by_name(kb)
    assert {name: kb.alias_to_cuis[name] for name in kb.names()} == named
    assert kb.count_names() == len(kb.alias_to_cuis) == len(named)
    counts = Counter(row["language"] for concept_id in kb for row in kb.aliases(concept_id))
    assert kb.aliases_by_language() == dict(sorted(counts.items()))


def test_removed_names_are_told_when_they_are_asked_for(changed: KnowledgeBase):
    assert [name.alias for name in changed.named("cold")] == ["cold", "Cold"]
    assert len(changed.named("cold", removed=True)) == 3
    assert {name.group for name in changed.named("cold", removed=True)} == {"DISO", "PHEN"}
