"""Which names of those that were found are marked."""

import spacy

from spacy_bergamot.pipeline.loaders import concept_table
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts
from tests.spacy_bergamot.factories import matcher_of, mentions


def test_entities_that_are_there_stay(matcher):
    nlp = matcher()
    doc = nlp.make_doc("heart attack and fever")
    doc.ents = [doc.char_span(0, 5, label="MINE")]
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert [(e.text, e.label_) for e in doc.ents] == [("heart", "MINE"), ("fever", "DISO")]


def test_a_span_group_may_overlap(matcher):
    doc = matcher(spans_key="sc")("heart attack")
    assert [(s.text, s.label_) for s in doc.spans["sc"]] == [
        ("heart", "ANAT"),
        ("heart attack", "DISO"),
    ]
    assert not doc.ents


def test_of_names_that_overlap_the_longest_is_marked(dictionary):
    names = ["refiere dolor", "dolor torácico", "dolor", "torácico agudo"]
    nlp = dictionary({f"X{n}": {"SPA": [name]} for n, name in enumerate(names)}, "es")
    assert mentions(nlp, "Refiere dolor torácico.") == [("dolor torácico", "DISO")]
    assert mentions(nlp, "Refiere dolor. Dolor torácico agudo y dolor.") == [
        ("Refiere dolor", "DISO"),
        ("Dolor torácico", "DISO"),
        ("dolor", "DISO"),
    ]


def test_stop_words_and_groups_that_say_nothing_of_a_patient_are_no_mentions(tmp_path):
    known = {"this": "T184", "All": "T184", "ALL": "T047", "severe": "T080"}
    added = {f"L{n}": (known[name], {"ENG": [name]}) for n, name in enumerate(known)}
    write_concepts(tmp_path / "kb", CONCEPTS | added)

    def found(text, **config):
        nlp = spacy.blank("en")
        pipe = nlp.add_pipe("bergamot_mentions", config=config)
        pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(tmp_path / "kb")))
        return mentions(nlp, text)

    text = "This is all: severe fever, no ALL."
    assert found("THIS IS ALL: SEVERE FEVER.") == [("FEVER", "DISO")]
    assert found(text) == [("fever", "DISO"), ("ALL", "DISO")]
    assert found(text, groups=["CONC", "DISO"]) == [
        ("severe", "CONC"),
        ("fever", "DISO"),
        ("ALL", "DISO"),
    ]
    assert found(text, groups_discard=["DISO"]) == [("severe", "CONC")]


def test_abbreviations_that_head_a_line_are_no_mentions(tmp_path):
    write_concepts(
        tmp_path / "kb",
        {
            f"L{n}": ("T047", {"ENG": [name]})
            for n, name in enumerate(["HPI", "PE", "COPD", "fever"])
        },
    )
    nlp = matcher_of(tmp_path / "kb", "en", min_length=2)
    text = "HPI: fever, PE: no.\n\n - PE : fine\nCOPD: stable\nPE, HPI seen\nfever: no\n  HPI：x"
    found = [(ent.text, ent.start_char) for ent in nlp(text).ents]
    assert found == [
        ("fever", 5),
        ("PE", 12),  # not at the beginning of a line
        ("COPD", 34),
        ("PE", 47),
        ("HPI", 51),
        ("fever", 60),
    ]


def test_organs_and_allergies_before_a_colon_are_headings(tmp_path):
    known = {"lungs": "T023", "heart": "T023", "nausea": "T184", "ibuprofen": "T121"}
    known |= {"allergies": "T047", "allergic rhinitis": "T047"}
    table = {f"L{n}": (known[name], {"ENG": [name]}) for n, name in enumerate(known)}
    write_concepts(tmp_path / "kb", table)
    text = "Exam. LUNGS: clear. Heart : loud, lungs free. Nausea: no. Ibuprofen: 200 mg. "
    text += "Allergies: none. Many allergies. Allergic rhinitis: mild"
    found = [ent.text for ent in matcher_of(tmp_path / "kb", "en")(text).ents]
    assert found == ["lungs", "Nausea", "Ibuprofen", "allergies", "Allergic rhinitis"]


def test_a_long_word_in_capitals_is_no_abbreviation(tmp_path):
    table = {f"L{n}": ("T184", {"ENG": [name]}) for n, name in enumerate(["complications", "ALL"])}
    write_concepts(tmp_path / "kb", table)
    text = "COMPLICATIONS: None apparent, no ALL."
    assert [ent.text for ent in matcher_of(tmp_path / "kb", "en")(text).ents] == ["ALL"]
