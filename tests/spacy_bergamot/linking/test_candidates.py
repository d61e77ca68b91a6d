"""The order of candidates."""

from pathlib import Path

import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import (
    DenseGenerator,
    EnsembleGenerator,
    ExactGenerator,
    LexicalGenerator,
)
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
    generator = CandidateGenerator(encoder, index, CandidateFilter(), generator=mix)
    found = generator.generate([("cold", "")], k=3)[0]
    assert [(c.concept_id, c.score) for c in found] == [("C02", 1), ("C01", 1), ("C03", 1)]
