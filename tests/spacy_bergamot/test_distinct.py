"""Names that the vocabulary does not reach share one vector, and the index holds together."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.candidates import CandidateGenerator
from spacy_bergamot.distinct import group_names
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.filters import CandidateFilter
from spacy_bergamot.generators import DenseGenerator
from spacy_bergamot.text_encoder import TextEncoder, fingerprint
from tests.spacy_bergamot.conftest import write_concepts

WORDS = ["fever", "cold", "heart", "aspirin", "insulin", "diabetes", "attack", "blood"]
UNKNOWN = [chr(0x13000 + number) for number in range(300)]  # hieroglyphs


@pytest.fixture
def encoder(lm: Path) -> TextEncoder:
    return TextEncoder.open(lm)


def test_names_are_grouped_by_their_token_ids(encoder: TextEncoder):
    names = [*UNKNOWN[:3], "fever", "cold", UNKNOWN[3], "fever of old", "cold"]
    groups = group_names(encoder, pa.array(names, pa.large_string()))
    tokens = encoder.tokenize(names)
    expected: dict[tuple[int, ...], list[int]] = {}
    for row, ids in enumerate(tokens):
        expected.setdefault(tuple(ids), []).append(row)
    assert groups.first.tolist() == [rows[0] for rows in expected.values()]
    found = [
        groups.members[start:stop].tolist()
        for start, stop in zip(groups.indptr, groups.indptr[1:], strict=False)
    ]
    assert found == list(expected.values())
    assert [names[i] for i in groups.first[groups.of_rows()]] == [
        names[expected[tuple(ids)][0]] for ids in tokens
    ]
    assert not len(group_names(encoder, pa.array([], pa.large_string())).first)


def test_the_index_keeps_one_vector_of_names_with_the_same_tokens(lm: Path, tmp_path: Path):
    """A graph of copies would lose most of the names that are no copies."""
    known = {
        f"C{n:03d}": ("T047", {"ENG": [" ".join(words)], "EGY": [sign]})
        for n, (words, sign) in enumerate(zip(permutations(WORDS, 3), UNKNOWN, strict=False))
    }
    concepts = write_concepts(tmp_path / "kb", known)
    encoder = TextEncoder.open(lm)
    AliasIndex.build(tmp_path / "index", concepts, encoder, lm_fingerprint=fingerprint(lm))
    index = AliasIndex.open(tmp_path / "index")
    assert index.vectors == 301
    assert len(index) == 600
    names = [text.as_py() for text in index.strings]
    found, scores = index.search(encoder.encode(names), 1)
    np.testing.assert_allclose(scores[:, 0], 1, atol=1e-5)
    assert all(row in index.strings_of(hit) for row, hit in enumerate(found[:, 0]))
    generator = CandidateGenerator(
        encoder, index, CandidateFilter(), k=5, generator=DenseGenerator()
    )
    candidates = generator.generate([(chr(0x13000 + 350), "")])[0]  # another sign that is unknown
    assert [c.concept_id for c in candidates] == ["C000", "C001", "C002", "C003", "C004"]
    assert all(c.score == 1 and c.language == "EGY" for c in candidates)


def test_fewer_components_make_a_smaller_index_that_finds_nearly_the_same(lm: Path, tmp_path: Path):
    known = {
        f"C{n:03d}": ("T047", {"ENG": [" ".join(words)]})
        for n, words in enumerate(permutations(WORDS, 3))
    }
    concepts = write_concepts(tmp_path / "kb", known)
    encoder, mark = TextEncoder.open(lm), fingerprint(lm)
    for name, components in (("all", None), ("half", 16)):
        AliasIndex.build(
            tmp_path / name, concepts, encoder, lm_fingerprint=mark, components=components
        )
    whole, half = (AliasIndex.open(tmp_path / name) for name in ("all", "half"))
    vectors = encoder.encode([text.as_py() for text in whole.strings])
    found, scores = half.search(vectors, 1)
    assert (found[:, 0] == whole.search(vectors, 1)[0][:, 0]).mean() > 0.98
    assert (scores[:, 0] > 1 - 1e-4).mean() > 0.98
    sizes = [sum(f.stat().st_size for f in (i.path / "engine").iterdir()) for i in (whole, half)]
    assert sizes[1] < sizes[0]
    for wrong in (0, 32, 1000):
        with pytest.raises(BergamotError, match="B044"):
            AliasIndex.build(
                tmp_path / "x", concepts, encoder, lm_fingerprint=mark, components=wrong
            )
