"""Every setting of the dictionary matcher is the config's."""

import pickle

import spacy

from spacy_bergamot.mentions.settings import MentionSettings


def test_a_config_sets_every_setting_and_a_pickle_keeps_them():
    given = {
        "max_tokens": 5,
        "min_length": 4,
        "groups": ["DISO"],
        "groups_discard": ["CONC"],
        "languages": ["de"],
        "folded": False,
        "tolerant": False,
        "abbreviations": False,
        "usual_abbreviations": False,
        "spans_key": "sc",
    }
    default = vars(MentionSettings())
    assert given.keys() == default.keys()
    assert all(given[key] != default[key] for key in given)
    pipe = spacy.blank("en").add_pipe("bergamot_mentions", config=given)
    for one in (pipe, pickle.loads(pickle.dumps(pipe))):
        assert vars(one.settings) == given
