"""The alias index: strings by name and by vector, and what it says of them."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import KIND, VERSION, AliasIndex
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import DenseGenerator
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts

WORDS = ["fever", "cold", "heart", "aspirin", "insulin", "diabetes", "attack", "blood"]
UNKNOWN = [chr(0x13000 + number) for number in range(300)]  # hieroglyphs


@pytest.fixture(scope="module")
def encoder(lm: Path) -> TextEncoder:
    return TextEncoder.open(lm)


@pytest.fixture(scope="module")
def names(index: AliasIndex) -> list[str]:
    return [text.as_py() for text in index.strings]


def test_every_string_is_found_by_its_name(index: AliasIndex, names: list[str]):
    assert index.lookup(names).tolist() == list(range(len(index)))
    assert index.lookup(["Fever", "", "no such name"]).tolist() == [-1] * 3
    aliases = index.table.aliases.to_pylist()
    for string, name in enumerate(names):
        assert {normalize(aliases[row]["alias"]) for row in index.alias_rows(string)} == {name}
    assert sum(len(index.alias_rows(string)) for string in range(len(index))) == len(aliases)


def test_vectors_are_the_encoder_s_and_strings_share_them(index, names, encoder):
    asked = ["zebra", *names[:3], "gnu", names[0]]
    np.testing.assert_allclose(index.embed(asked, encoder), encoder.encode(asked), atol=1e-6)
    vectors = index.embed(names, None)  # which are all there
    found, scores = index.search(vectors, 1)
    np.testing.assert_allclose(scores[:, 0], 1, atol=1e-5)
    np.testing.assert_array_equal(found[:, 0], index.string_vectors)
    strings = np.array([5, 0, 5])
    expected = encoder.encode([names[row] for row in strings]) @ vectors[7]
    np.testing.assert_allclose(index.cosines(vectors[7], strings), expected, atol=1e-6)


def test_a_string_s_languages_have_equal_shares(index: AliasIndex, names: list[str]):
    shares = index.languages_of(np.arange(len(index)))
    rows = index.table.aliases.to_pylist()
    spoken = {
        name: {r["language"] for r in rows if normalize(r["alias"]) == name} for name in names
    }
    np.testing.assert_allclose(shares.sum(1), 1)
    assert [(row > 0).sum() for row in shares] == [len(spoken[name]) for name in names]
    english = shares[[spoken[name] == {"ENG"} for name in names]]
    assert (english == english[0]).all()


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
    np.testing.assert_array_equal(found[:, 0], index.string_vectors)
    generator = CandidateGenerator(encoder, index, CandidateFilter(), generator=DenseGenerator())
    candidates = generator.generate([(chr(0x13000 + 350), "")], k=5)[
        0
    ]  # another sign that is unknown
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


def test_a_failed_build_leaves_nothing_behind(concepts, tmp_path, monkeypatch):
    broken = {
        "dim": 4,
        "precision": "fp32",
        "tokenize": lambda self, names: [list(name.encode()) for name in names],
        "encode_in_pieces": lambda self, names: 1 / 0,
    }
    encoder = type("Broken", (), broken)()
    with pytest.raises(ZeroDivisionError):
        AliasIndex.build(tmp_path / "index", concepts, encoder, lm_fingerprint="x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("engine", ["faiss", "sharded"])
def test_what_an_engine_made_on_the_way_is_kept_beside_the_vectors(
    concepts: Path, lm: Path, tmp_path: Path, engine: str
):
    if engine == "faiss":
        pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    encoder, kept = TextEncoder.open(lm), tmp_path / "vectors"
    facts = {"lm_fingerprint": fingerprint(lm), "engine": engine}
    AliasIndex.build(tmp_path / "a", concepts, encoder, **facts, vectors=kept)
    times = {path: path.stat().st_mtime_ns for path in kept.rglob("parts/**/*")}
    assert times
    AliasIndex.build(tmp_path / "b", concepts, encoder, **facts, vectors=kept)
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("parts/**/*")} == times
    AliasIndex.build(tmp_path / "c", concepts, encoder, **facts)
    indexes = [AliasIndex.open(tmp_path / name) for name in "abc"]
    vectors = indexes[0].engine.vectors(np.arange(indexes[0].vectors))
    for index in indexes:
        rows, scores = index.search(vectors, 1)
        np.testing.assert_array_equal(rows[:, 0], np.arange(len(vectors)))
        np.testing.assert_allclose(scores[:, 0], 1, atol=1e-3)
    assert not list((tmp_path / "c").rglob("parts*"))
