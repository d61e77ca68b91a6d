"""The reranker in a pipeline: from the config, saved, in other processes, calibrated."""

import math
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from spacy_bergamot.linking.candidates import NIL
from spacy_bergamot.linking.llm.reranker import LlmReranker
from tests.spacy_bergamot.linking.llm.conftest import letter_of, said

DENSE = {"@misc": "spacy_bergamot.DenseGenerator.v1"}
TEXTS = ["Outside the cold was bitter.", "She caught a cold.", "A cold case."]


def config(server, **settings: object) -> dict:
    return {"@misc": "spacy_bergamot.LlmReranker.v1", "url": server.url, "model": "m", **settings}


def chosen(body: dict) -> str:
    """Return the letter of what the text means."""
    text = body["messages"][1]["content"]
    for word, name in (("bitter", "cold temperature"), ("caught", "common cold")):
        if word in text:
            return letter_of(body, name)
    return letter_of(body, "no candidate fits")


@pytest.fixture
def nlp(make_nlp: Callable[..., Language], server) -> Language:
    server.reply = lambda body: said(chosen(body))
    rerank = config(server, extra={"reasoning_effort": "none"})
    return make_nlp(generator=DENSE, rerank=rerank, languages=["ENG"])


def links(docs) -> list[list[str]]:
    return [[ent.kb_id_ for ent in doc.ents if ent.text == "cold"] for doc in docs]


EXPECTED = [["C05"], ["C04"], [NIL]]


def test_homonyms_are_told_apart_and_what_fits_none_is_nil(nlp: Language, server):
    docs = list(nlp.pipe(TEXTS))
    assert links(docs) == EXPECTED
    assert all(body["reasoning_effort"] == "none" for body in server.bodies)
    (ent,) = docs[0].ents
    assert ent._.kb_ents[0] == ("C05", 1.0)
    assert NIL not in {one["concept_id"] for one in ent._.candidates}
    assert docs[2].ents[0]._.kb_ents == []
    explained = nlp.get_pipe("bergamot_linker").explain("cold", context=TEXTS[2])
    assert explained["decision"] == NIL


def test_it_is_saved_pickled_and_runs_in_forked_processes(nlp: Language, tmp_path: Path, server):
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    restored = pickle.loads(pickle.dumps(nlp))  # as a spawned process does
    for one in (loaded, restored):
        assert links(one.pipe(TEXTS)) == EXPECTED
    before = len(server.bodies)
    assert links(nlp.pipe(TEXTS * 2, n_process=2, batch_size=2)) == EXPECTED * 2
    assert len(server.bodies) > before
    text = (tmp_path / "pipeline/config.cfg").read_text()
    assert 'model = "m"' in text


def test_a_packaged_pipeline_is_given_a_model_when_it_is_loaded(
    make_nlp: Callable[..., Language], tmp_path: Path, server
):
    make_nlp(generator=DENSE, languages=["ENG"]).to_disk(tmp_path / "pipeline")
    server.reply = lambda body: said(chosen(body))
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    settings = {"bergamot_linker": {"rerank": config(server, extra=extra)}}
    nlp = spacy.load(tmp_path / "pipeline", config={"components": settings})
    assert links(nlp.pipe(TEXTS)) == EXPECTED
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_document_is_linked_though_the_server_fails(nlp: Language, server):
    server.close()
    with pytest.warns(UserWarning, match="W180"):
        docs = list(nlp.pipe(TEXTS))
    assert all(kb_id in ("C04", "C05") for (kb_id,) in links(docs))


def sure(body: dict) -> dict:
    """Return what the text means, as probable as the number of its note says."""
    letter, number = (
        chosen(body),
        int(body["messages"][1]["content"].split("Note ")[1].split(":")[0]),
    )
    other = next(one for one in "ABC" if one != letter)
    shares = {letter: 0.6 + number / 300, other: 0.4 - number / 300}
    top = [{"token": one, "logprob": math.log(share)} for one, share in shares.items()]
    return said(letter, [{**top[0], "top_logprobs": top}])


def test_a_linker_is_calibrated_with_nil_among_the_answers(nlp: Language, server):
    server.reply = sure
    linker = nlp.get_pipe("bergamot_linker")
    words = {"bitter": "C05", "caught": "C04", "case": NIL}
    examples = []
    for number in range(90):
        word, gold = list(words.items())[number % 3]
        doc = nlp.make_doc(f"Note {number}: {word} cold")
        start = doc.text.rindex("cold")
        kb_id = "C10" if number < 15 else gold  # what is unsure is wrong
        doc.ents = [doc.char_span(start, start + 4, label="DISO", kb_id=kb_id)]
        examples.append(Example(Doc(nlp.vocab), doc))
    report = linker.calibrate(examples)
    assert report["linked"] == 60  # mentions whose first candidate is NIL are no links
    assert report["accuracy"] == round(50 / 60, 4)
    found = [nlp(f"Note {number}: caught cold").ents[0]._.candidates for number in (1, 85)]
    unsure, sure_one = (of[0]["probability"] for of in found)
    assert unsure + 0.1 < sure_one
    assert all(one["concept_id"] != NIL and "probability" in one for of in found for one in of)


def test_the_registered_function_checks_a_config():
    resolved = registry.resolve(
        {"r": {"@misc": "spacy_bergamot.LlmReranker.v1", "url": "http://localhost", "model": "m"}}
    )
    assert isinstance(resolved["r"], LlmReranker)
    with pytest.raises(ValueError, match="model"):
        registry.resolve({"r": {"@misc": "spacy_bergamot.LlmReranker.v1", "url": "http://[::1]"}})
    wrong = {"url": "http://[::1]", "model": "m", "passes": "many"}
    with pytest.raises(ValueError, match="passes"):
        registry.resolve({"r": {"@misc": "spacy_bergamot.LlmReranker.v1", **wrong}})
