"""Text in capitals: no word of it is an abbreviation for that."""

import numpy as np
import pytest
import spacy

from spacy_bergamot.mentions.capitals import Capitals
from spacy_bergamot.pipeline.loaders import concept_table
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts
from tests.spacy_bergamot.factories import mentions


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("OUT OF BREATH", ""),  # one word of five letters: it may be a list of abbreviations
        ("BREATH IS SHORT\nnot here\n", "BREATH IS SHORT"),
        ("Before\nБОЛЬШЕ ОДЫШКИ: ДА", "БОЛЬШЕ ОДЫШКИ: ДА"),
        ("SHORT\nBREATH", "SHORTBREATH"),
        ("呼吸困難 呼吸困難呼吸困難", ""),
        ("", ""),
    ],
)
def test_lines_in_capitals(text, held):
    inside = Capitals(text).hold(np.arange(len(text)))
    assert "".join(c for c, is_in in zip(text, inside, strict=True) if is_in) == held


def test_capitals_tell_no_abbreviation_where_all_is_in_capitals(tmp_path):
    known = {"CASD": "T047", "PTCA": "T047", "mass": "T184"}
    added = {f"L{n}": (known[name], {"ENG": [name]}) for n, name in enumerate(known)}
    write_concepts(tmp_path / "kb", CONCEPTS | added)
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("bergamot_mentions")
    pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(tmp_path / "kb")))

    def found(text):
        return [text for text, _ in mentions(nlp, text)]

    assert found("The diagnosis: CASD, ASA") == ["CASD", "ASA"]
    assert found("OTHERS SHOUTED: CASD, MASS") == ["MASS"]
    assert found("OTHERS SHOUTED: MASS\nNobody here: CASD, ASA") == ["MASS", "CASD", "ASA"]
    assert found("CASD, ASA, MASS") == ["CASD", "ASA", "MASS"]
    # What it mostly means is a procedure, unless the document says otherwise.
    assert found("Underwent PTCA") == []
