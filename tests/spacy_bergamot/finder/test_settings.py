"""Every setting of the finder is the config's."""

import pickle

import spacy

from spacy_bergamot.finder.settings import FinderSettings


def test_a_config_sets_every_setting_and_a_pickle_keeps_them():
    given = {
        "threshold": 0.7,
        "agreement": 0.2,
        "spans_key": "sc",
        "device": "auto",
        "precision": "bf16",
        "batch_pieces": 256,
    }
    default = vars(FinderSettings())
    assert given.keys() == default.keys()
    assert all(given[key] != default[key] for key in given)
    pipe = spacy.blank("en").add_pipe("bergamot_finder", config=given)
    for one in (pipe, pickle.loads(pickle.dumps(pipe))):
        assert vars(one.settings) == given
