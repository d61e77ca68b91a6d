"""The order of candidates."""

from pathlib import Path

import pytest

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.candidates import CandidateGenerator
from spacy_bergamot.filters import CandidateFilter
from spacy_bergamot.generators import (
    DenseGenerator,
    EnsembleGenerator,
    ExactGenerator,
    LexicalGenerator,
)
from spacy_bergamot.text_encoder import TextEncoder, fingerprint
from tests.spacy_bergamot.conftest import write_concepts


@pytest.mark.parametrize("combine", ["max", "mean", "rescored"])
def test_an_ambiguous_alias_means_what_most_entries_say(lm: Path, tmp_path: Path, combine: str):
    known = {
        "C01": ("T047", {"ENG": ["cold"]}),  # its preferred name
        "C02": ("T047", {"ENG": ["fever", "cold"], "GER": ["Cold"], "SPA": ["COLD"]}),
        "C03": ("T047", {"ENG": ["heart", "cold"], "GER": ["Herz"]}),
    }
    concepts = write_concepts(tmp_path / "kb", known)
    encoder = TextEncoder.open(lm)
    AliasIndex.build(tmp_path / "index", concepts, encoder, lm_fingerprint=fingerprint(lm))
    index = AliasIndex.open(tmp_path / "index")
    parts = {"exact": ExactGenerator(), "lexical": LexicalGenerator(), "dense": DenseGenerator()}
    mix = EnsembleGenerator(parts, combine=combine)
    generator = CandidateGenerator(encoder, index, CandidateFilter(), k=3, generator=mix)
    found = generator.generate([("cold", "")])[0]
    assert [(c.concept_id, c.score) for c in found] == [("C02", 1), ("C01", 1), ("C03", 1)]
