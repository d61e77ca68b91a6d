"""Names that the vocabulary does not reach share one vector, and the index holds together."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import KIND, VERSION, AliasIndex
from spacy_bergamot.index.distinct import group_names
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import DenseGenerator
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts

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
    generator = CandidateGenerator(encoder, index, CandidateFilter(), generator=DenseGenerator())
    unknown = chr(0x13000 + 350)  # another sign
    candidates = generator.generate([(unknown, "")], k=5)[0]
    assert [c.concept_id for c in candidates] == ["C000", "C001", "C002", "C003", "C004"]
    assert all(c.score == 1 and c.language == "EGY" for c in candidates)


def test_an_index_of_principal_components_is_refused(lm: Path, tmp_path: Path):
    concepts = write_concepts(tmp_path / "kb", CONCEPTS)
    path = tmp_path / "index"
    AliasIndex.build(path, concepts, TextEncoder.open(lm), lm_fingerprint=fingerprint(lm))
    manifest = read_manifest(path, kind=KIND, version=VERSION)
    facts = {name: manifest[name] for name in ("lm_fingerprint", "engine", "dim", "release")}
    facts |= {name: manifest[name] for name in ("strings", "vectors", "aliases", "concepts")}
    write_manifest(path, kind=KIND, version=VERSION, components=256, **facts)
    with pytest.raises(BergamotError, match=r"B044.*index"):
        AliasIndex.open(path)
