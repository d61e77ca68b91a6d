"""The factory's settings: those of `LinkerSettings`, with its defaults, checked by spaCy."""

from dataclasses import fields
from pathlib import Path

import pytest
import spacy
from confection import ConfigValidationError

from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.factory import DEFAULT_CONFIG, MIXED_GENERATOR
from spacy_bergamot.pipeline.scorer import score_linking

ROOT = Path(__file__).parents[3]


def test_a_linker_of_the_default_config_has_the_default_settings():
    made = spacy.blank("xx").add_pipe("bergamot_linker").settings
    for field in fields(LinkerSettings):
        if field.name != "scorer":
            assert getattr(made, field.name) == getattr(LinkerSettings(), field.name), field.name
    assert made.scorer is score_linking
    names = {field.name for of in (LinkerSettings, CandidateFilter) for field in fields(of)}
    assert DEFAULT_CONFIG.keys() == names - {"allowed"}


def test_settings_are_taken_and_filters_stand_beside_them():
    config = {"k": 3, "languages": ["de", "ENG"], "semantic_groups": ["DISO"],
              "types_by_label": {"X": ["T047"]}, "labels_discard": ["Y"]}  # fmt: skip
    made = spacy.blank("xx").add_pipe("bergamot_linker", config=config).settings
    assert (made.k, made.labels_discard) == (3, ("Y",))
    assert made.allowed == CandidateFilter(
        languages=("GER", "ENG"), semantic_groups=("DISO",), types_by_label={"X": ["T047"]}
    )


@pytest.mark.parametrize(
    "config",
    [{"colour": 1}, {"k": "many"}, {"languages": "de"}, {"overwrite": "perhaps"}, {"allowed": {}}],
)
def test_a_setting_of_another_name_or_type_is_refused(config: dict):
    with pytest.raises(ConfigValidationError, match=next(iter(config))):
        spacy.blank("xx").add_pipe("bergamot_linker", config=config)


def test_every_packaged_config_has_the_same_mix():
    for name in ("linker", "ner_linker"):
        config = spacy.util.load_config(ROOT / f"configs/{name}.cfg")
        assert config["components"]["bergamot_linker"]["generator"] == MIXED_GENERATOR
