"""Rescoring: every alias by 3-grams and language model, as plain loops score it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.linking.rescoring import Pool
from spacy_bergamot.linking.selection import Allowed
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.factories import ensemble, mark

FOUND = st.lists(st.integers(0, 9), unique=True)


def candidates(nlp, text: str, mention: str) -> list[dict]:
    return nlp.get_pipe("bergamot_linker")(mark(nlp, text, mention)).ents[0]._.candidates


def allowed(aliases: list[int]) -> Allowed:
    """Return aliases whose strings and concepts are known from their rows."""
    rows = np.array(aliases, dtype=np.int64)
    return Allowed(100 + rows, rows, rows // 2, np.ones(len(rows), dtype=np.float32))


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(["exact", "lexical", "dense"]), FOUND, min_size=1))
def test_a_pool_has_every_alias_once_and_who_found_it(found: dict[str, list[int]]):
    pool = Pool.of({key: allowed(aliases) for key, aliases in found.items()})
    every = sorted({alias for aliases in found.values() for alias in aliases})
    assert pool.aliases.tolist() == every
    assert pool.strings.tolist() == [100 + alias for alias in every]
    assert pool.concepts.tolist() == [alias // 2 for alias in every]
    for key, aliases in found.items():
        assert pool.found[key].tolist() == [alias in aliases for alias in every]


@pytest.mark.parametrize("mention", ["heart attacks", "диабет", "magnetic resonance", "糖"])
@pytest.mark.parametrize("agreement", [0.0, 0.2])
def test_rescoring_is_what_plain_loops_give(make_nlp, mention, agreement):
    weights = {"lexical": 0.3, "dense": 0.6}
    made = ensemble(combine="rescored", weights=weights, agreement=agreement)
    nlp = make_nlp(mentions=False, generator=made, k=5)
    generator = nlp.get_pipe("bergamot_linker").generator
    index, encoder = generator.index, generator.encoder
    vector = encoder.encode([mention])[0]
    rows = index.table.aliases.to_pylist()
    names = [text.as_py() for text in index.strings]
    vectors = dict(zip(names, encoder.encode(names), strict=True))
    spoken: dict[str, set[str]] = {name: set() for name in names}
    for row in rows:
        spoken[normalize(row["alias"])].add(row["language"])
    mean = np.mean([vectors[name] for name in names], axis=0)
    offsets = {}
    for language in {row["language"] for row in rows}:
        own = [vectors[name] - mean for name in names if language in spoken[name]]
        offsets[language] = np.sum(own, axis=0) / (len(own) + 100)
    ((ids, cosines),) = index.lexical.search([mention], len(names))
    lexical = {
        **dict.fromkeys(names, 0.0),
        **{names[i]: s for i, s in zip(ids, cosines, strict=True)},
    }
    dense = {name: float(vectors[name] @ vector) for name in names}
    near = sorted(names, key=lambda name: -dense[name])[:20]
    pool = {*near, *(name for name in names if lexical[name] >= 0.2)}
    usual = {}
    for language in offsets:
        shares = {name: 1 / len(spoken[name]) for name in near if language in spoken[name]}
        total = sum(share * lexical[name] for name, share in shares.items())
        usual[language] = total / sum(shares.values()) if shares else 0.0
    distances: dict[str, list[float]] = {}
    distinct = ~np.eye(len(names), dtype=bool)
    every = np.array([vectors[name] for name in names])
    chance = max(0.0, float((every @ every.T)[distinct].mean()))
    for row in rows:
        name = normalize(row["alias"])
        if name not in pool:
            continue
        bias = np.mean([offsets[language] @ vector for language in spoken[name]])
        common = np.mean([usual[language] for language in spoken[name]])
        score = (2 * (dense[name] - bias - chance) / (1 - chance) + lexical[name] - common) / 3
        concept_id = index.table.concept_id(row["concept"])
        distances.setdefault(concept_id, []).append(max(1 - score, 1e-6))
    expected = {}
    for concept_id, found in distances.items():
        power = 1 / agreement if agreement else 1000.0
        expected[concept_id] = 1 - sum((d / min(found)) ** -power for d in found) ** (
            -1 / power
        ) * min(found)
    found = candidates(nlp, mention, mention)
    assert [c["concept_id"] for c in found] == sorted(expected, key=lambda c: -expected[c])[:5]
    for c in found:
        tolerance = 1e-4 if agreement else 2e-2
        assert c["score"] == pytest.approx(expected[c["concept_id"]], abs=tolerance)
        assert c["scores"]["dense"] == pytest.approx(dense[normalize(c["alias"])], abs=1e-5)
        assert c["scores"]["lexical"] == pytest.approx(lexical[normalize(c["alias"])], abs=1e-5)


def test_rescoring_ranks_what_either_finds_by_its_parts(make_nlp):
    """Without 3-grams in the sum the order is the language model's, and the other way round."""
    mention = "acute heart attack pain"
    for most, least in (("lexical", "dense"), ("dense", "lexical")):
        made = ensemble(combine="rescored", weights={most: 1.0, least: 1e-6})
        nlp = make_nlp(mentions=False, generator=made, k=10, languages=["ENG"])
        found = candidates(nlp, mention, mention)
        assert all(set(c["scores"]) == {"lexical", "dense"} for c in found)
        parts = [c["scores"][most] for c in found]
        assert parts == sorted(parts, reverse=True)
