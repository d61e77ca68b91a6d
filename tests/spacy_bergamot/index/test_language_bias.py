"""What names of one language have in common decides nothing."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.language_bias import LanguageBias
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import DenseGenerator, EnsembleGenerator
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import GROUPS, write_concepts

COUNT = 600


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


class Spoken:
    """An encoder whose vectors are a meaning and, as much of it, a language."""

    dim, precision = 32, "fp32"

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.meanings = rng.standard_normal((COUNT, 24))
        self.languages = {"en": np.eye(8)[0] * 3.5, "es": np.eye(8)[1] * 3.5}

    def encode(self, names: list[str]) -> np.ndarray:
        parts = [(name[:2], int(name[2:5])) for name in names]
        made = [np.hstack([self.meanings[n], self.languages[code]]) for code, n in parts]
        return unit(np.array(made)).astype(np.float32)

    def encode_in_pieces(self, names: list[str]):
        from spacy_bergamot.encoder.text_encoder import Piece

        yield Piece(np.arange(len(names)), self.encode(names))

    def tokenize(self, names: list[str]) -> list[list[int]]:
        return [list(name.encode()) for name in names]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> AliasIndex:
    """All concepts have an English name, those of odd number a Spanish one as well."""
    folder, kind = tmp_path_factory.mktemp("bias"), next(iter(GROUPS))
    known = {
        f"C{n:03}": (kind, {"ENG": [f"en{n:03}"], **({"SPA": [f"es{n:03}"]} if n % 2 else {})})
        for n in range(COUNT)
    }
    write_concepts(folder / "kb", known)
    AliasIndex.build(folder / "i", folder / "kb", Spoken(), lm_fingerprint="x", engine="exact")
    return AliasIndex.open(folder / "i")


def test_a_translation_comes_before_other_names_of_the_mention_s_language(index):
    encoder = Spoken()
    mentions = [(f"es{n:03} of", "") for n in range(0, COUNT, 20)]  # no Spanish name has them
    right = {}
    for combine in ("max", "rescored"):
        ensemble = EnsembleGenerator({"dense": DenseGenerator()}, combine=combine)
        generator = CandidateGenerator(encoder, index, CandidateFilter(), generator=ensemble)
        found = generator.generate(mentions, k=10)
        firsts = [candidates[0].concept_id for candidates in found]
        right[combine] = np.mean([c == f"C{20 * n:03}" for n, c in enumerate(firsts)])
    assert right["max"] < 0.5 < 0.9 < right["rescored"]


def test_means_are_those_of_each_language_with_a_prior(index):
    vectors = Spoken().encode([text.as_py() for text in index.strings])
    mean = vectors.mean(0)
    bias = index.bias
    np.testing.assert_allclose(bias.mean, mean, atol=1e-6)
    different = ~np.eye(len(vectors), dtype=bool)
    assert bias.chance == pytest.approx(float((vectors @ vectors.T)[different].mean()), abs=1e-5)
    rows = index.table.aliases.to_pylist()
    for code, language in enumerate(bias.languages):
        names = [normalize(row["alias"]) for row in rows if row["language"] == language]
        own = Spoken().encode(names)
        expected = (own - mean).sum(0) / (len(own) + 100)
        np.testing.assert_allclose(bias.offsets[code], expected, atol=1e-6)
    assert not bias.offsets[-1].any()
    assert bias.codes(["SPA", "XXX"]).tolist() == [bias.languages.index("SPA"), 2]


def test_a_name_of_two_languages_has_a_share_of_each(concepts: Path, lm: Path, tmp_path: Path):
    encoder = TextEncoder.open(lm)
    AliasIndex.build(tmp_path / "i", concepts, encoder, lm_fingerprint="x", engine="exact")
    index = AliasIndex.open(tmp_path / "i")
    strings = index.lookup(["糖尿病", "aspirin", "発熱"])
    shares = dict(zip(index.bias.languages, index.languages_of(strings).T, strict=False))
    np.testing.assert_allclose(shares["JPN"], [0.5, 0, 1])
    np.testing.assert_allclose(shares["CHI"], [0.5, 0, 0])
    np.testing.assert_allclose(shares["GER"] + shares["ENG"], [0, 1, 0])
    np.testing.assert_allclose(shares["GER"], [0, 0.5, 0])


def test_few_vectors_are_not_near_by_chance_for_being_themselves(tmp_path: Path):
    """Three names at right angles: their mean has a length, two of them nothing in common."""
    vectors, rows = np.eye(3, dtype=np.float32), np.arange(3)
    LanguageBias.save(tmp_path, vectors, rows, np.zeros(3, dtype=np.int64), languages=1)
    assert LanguageBias.open(tmp_path, ["ENG"], count=3).chance == pytest.approx(0, abs=1e-6)


def test_an_unknown_language_and_an_empty_one_change_nothing(tmp_path: Path):
    vectors = unit(np.random.default_rng(0).standard_normal((9, 4)).astype(np.float32))
    owners, codes = np.arange(9), np.zeros(9, dtype=np.int64)
    LanguageBias.save(tmp_path, vectors, owners, codes, languages=2)
    bias = LanguageBias.open(tmp_path, ["ENG", "SPA"], count=9)
    np.testing.assert_allclose(bias.offsets, np.zeros((3, 4)), atol=1e-7)
