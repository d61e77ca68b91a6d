import threading

import pytest
import spacy
from spacy.pipeline import EntityLinker
from spacy.tokens import DocBin, Span

from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.factories import mark

TEXTS = {
    "She has High  Blood Pressure and a heart attack.": ["C01", "C03"],
    "Der Patient hat Bluthochdruck und Fieber.": ["C01", "C10"],
    "患者は高血圧と糖尿病がある。": ["C01", "C02"],
    "因心肌梗死入院": ["C03"],
    "У пациента гипертония и сахарный диабет.": ["C01", "C02"],
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_aliases_of_any_language_get_their_concept(nlp, text, expected):
    doc = nlp(text)
    assert [ent.kb_id_ for ent in doc.ents] == expected
    assert [ent._.kb_ents[0] for ent in doc.ents] == [(c, 1.0) for c in expected]
    assert doc.text == text


def test_a_candidate_says_how_it_was_found(nlp):
    ent = nlp("Ihr Bluthochdruck ist bekannt").ents[0]
    assert ent._.candidates == [
        {
            "concept_id": "C01",
            "score": 1.0,
            "alias": "Bluthochdruck",
            "language": "GER",
            "source": "SRCGER",
            "generator": "exact",
            "scores": {"exact": 1.0},
        }
    ]


def test_an_unknown_mention_gets_the_nearest_concepts_by_vector(make_nlp):
    nlp = make_nlp(mentions=False, k=4)
    doc = mark(nlp, "a high blood pressures crisis", "high blood pressures")
    nlp.get_pipe("bergamot_linker")(doc)
    found = doc.ents[0]._.candidates
    assert len(found) == len({c["concept_id"] for c in found}) == 4
    assert [c["generator"] for c in found] == ["dense"] * 4
    scores = [c["score"] for c in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] < 1
    linker = nlp.get_pipe("bergamot_linker")
    encoder, index = linker.generator.encoder, linker.generator.index
    vectors = encoder.encode([text.as_py() for text in index.strings])
    best = (vectors @ encoder.encode(["high blood pressures"])[0]).max()
    assert scores[0] == pytest.approx(float(best), abs=1e-5)


def test_homonyms_come_in_a_stable_order(nlp):
    ent = nlp("a bad cold").ents[0]
    assert ent._.kb_ents[:2] == [("C04", 1.0), ("C05", 1.0)]
    assert all(score < 1 for _, score in ent._.kb_ents[2:])


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"semantic_groups": ["PHEN"]}, "C05"),
        ({"semantic_types": ["T070"]}, "C05"),
        ({"types_by_label": {"X": ["PHEN"]}}, "C05"),
        ({"types_by_label": {"Y": ["PHEN"]}}, "C04"),
        ({"types_by_label": {"X": ["T038"]}, "expand_types": True}, "C04"),
        ({"types_by_label": "common"}, "C04"),
    ],
)
def test_filters_work_before_the_top_k(make_nlp, config, expected):
    nlp = make_nlp(mentions=False, k=1, **config)
    doc = nlp.get_pipe("bergamot_linker")(mark(nlp, "a cold day", "cold"))
    assert doc.ents[0].kb_id_ == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [("PHEN", "C05"), ("Disease", "C04"), ("CHEMICAL", "NIL"), ("ORG", ""), ("ENTITY", "C04")],
)
def test_labels_of_common_models_say_what_may_be_proposed(make_nlp, label, expected):
    nlp = make_nlp(mentions=False, k=1, types_by_label="common", threshold=1.0)
    doc = nlp.get_pipe("bergamot_linker")(mark(nlp, "a cold day", "cold", label=label))
    assert doc.ents[0].kb_id_ == expected


@pytest.mark.parametrize("code", ["SPA", "es"])
def test_language_filter_leaves_aliases_of_that_language(make_nlp, code):
    nlp = make_nlp(mentions=False, languages=[code], k=3)
    doc = nlp.get_pipe("bergamot_linker")(mark(nlp, "the heart", "heart"))
    found = doc.ents[0]._.candidates
    assert {c["language"] for c in found} == {"SPA"}
    assert len(found) == 3


def test_below_the_threshold_is_nil(make_nlp):
    nlp = make_nlp(mentions=False, threshold=1.0)
    doc = nlp.get_pipe("bergamot_linker")(mark(nlp, "a zebra and a fever", "zebra", "fever"))
    assert [ent.kb_id_ for ent in doc.ents] == [EntityLinker.NIL, "C10"]
    assert doc.ents[0]._.kb_ents == []
    assert doc.ents[0]._.candidates


def test_labels_discard_and_overwrite(make_nlp):
    nlp = make_nlp(mentions=False, labels_discard=["SKIP"], overwrite=False)
    linker = nlp.get_pipe("bergamot_linker")
    assert linker(mark(nlp, "a fever", "fever", label="SKIP")).ents[0].kb_id_ == ""
    doc = mark(nlp, "a fever", "fever")
    for token in doc.ents[0]:
        token.ent_kb_id_ = "KEPT"
    assert linker(doc).ents[0].kb_id_ == "KEPT"


def test_overlapping_spans_of_a_group_are_linked(make_nlp):
    nlp = make_nlp(mentions=False, spans_key="sc")
    doc = nlp.make_doc("acute heart attack")
    doc.spans["sc"] = [Span(doc, 1, 2, label="A"), Span(doc, 1, 3, label="B")]
    nlp.get_pipe("bergamot_linker")(doc)
    assert [span.kb_id_ for span in doc.spans["sc"]] == ["C06", "C03"]
    assert doc.spans["sc"][1]._.kb_ents == [("C03", 1.0)]


@pytest.mark.parametrize(
    "mention",
    [
        "...",
        "—",
        "x" * 10_000,
        "מחלת לב",
        "a\u2028b",
        "😀",
        "क्ष\u200d",
        "\x07bell",
        '"q"',
        "Ａspirin",
    ],
)
def test_hostile_mentions_break_nothing(make_nlp, mention):
    nlp = make_nlp(mentions=False)
    doc = nlp.make_doc(mention)
    doc.ents = [Span(doc, 0, len(doc), label="X")]
    ent = nlp.get_pipe("bergamot_linker")(doc).ents[0]
    named = any(character.isalnum() for character in mention)
    assert (ent.kb_id_ != EntityLinker.NIL) == named
    if mention == "Ａspirin":
        assert ent.kb_id_ == "C07"


def test_empty_documents_and_documents_without_mentions(nlp):
    assert [len(doc.ents) for doc in nlp.pipe(["", " ", "nothing here"])] == [0, 0, 0]


def test_a_batch_gives_what_single_documents_give(nlp):
    texts = [*TEXTS, "", "fever"] * 40
    batch = [[e._.kb_ents for e in doc.ents] for doc in nlp.pipe(texts, batch_size=7)]
    assert batch == [[e._.kb_ents for e in nlp(text).ents] for text in texts]


def test_equal_mentions_are_encoded_once(make_nlp, monkeypatch):
    nlp = make_nlp(mentions=False, cache_size=2)
    linker = nlp.get_pipe("bergamot_linker")
    encoder, calls = linker.generator.encoder, []
    encode = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda names: calls.append(list(names)) or encode(names))
    docs = [mark(nlp, f"a {word} b", word) for word in ("zebra", "Zebra", "gnu", "fever")]
    list(linker.pipe(docs))
    linker(mark(nlp, "the gnu", "gnu"))
    assert calls == [["zebra", "gnu"]]
    assert len(linker._remembered) == 2


def test_extensions_survive_a_docbin(nlp):
    doc = nlp("heart attack")
    data = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    again = next(DocBin().from_bytes(data).get_docs(nlp.vocab))
    assert again.ents[0].kb_id_ == "C03"
    assert [tuple(pair) for pair in again.ents[0]._.kb_ents] == [("C03", 1.0)]


def test_threads_may_share_a_pipeline(nlp):
    results = [None] * 8

    def work(number):
        results[number] = [[e.kb_id_ for e in nlp(text).ents] for text in TEXTS]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(TEXTS.values())] * 8


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"threshold": 2.0}, "B037"),
        ({"no_definition_threshold": -2}, "no_definition_threshold is -2"),
        ({"k": 0}, "B037"),
        ({"languages": ["XXX"]}, "B033"),
        ({"semantic_types": ["T999"]}, "B033"),
        ({"device": "cuda:99"}, "B012"),
        ({"precision": "int4"}, "B014"),
    ],
)
def test_a_wrong_setting_is_a_coded_error(make_nlp, config, code):
    with pytest.raises(BergamotError, match=code):
        make_nlp(**config)


def test_a_linker_that_was_never_initialised_raises():
    nlp = spacy.blank("de")
    nlp.add_pipe("bergamot_linker")
    with pytest.raises(BergamotError, match="B030"):
        nlp("Fieber")
    with pytest.raises(BergamotError, match="B032"):
        nlp.initialize()
    with pytest.raises(BergamotError, match="B030"):
        nlp.to_bytes()
