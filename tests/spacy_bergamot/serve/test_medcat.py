"""The routes of MedCATservice, as its callers call them."""

import pytest
from spacy.language import Language

from spacy_bergamot.serve.app import create_app
from spacy_bergamot.serve.gate import LOOPBACK

TEXT = "Der 😀 Patient hat Bluthochdruck und heart attacks."
FIELDS = {
    "pretty_name", "cui", "type_ids", "types", "source_value", "detected_name", "acc",
    "context_similarity", "start", "end", "icd10", "ontologies", "snomed", "id", "meta_anns",
}  # fmt: skip


@pytest.fixture(scope="module")
def medcat(serve_app, make_nlp):
    nlp = make_nlp(k=5)

    @Language.component("breaks_at_a_word")
    def breaks(doc):
        if "explode" in doc.text:
            raise KeyError(doc.text)
        return doc

    nlp.add_pipe("breaks_at_a_word")
    return serve_app(create_app(nlp, hosts=LOOPBACK, medcat=True))


def test_a_text_is_annotated(medcat):
    answer = medcat.post("/api/process", {"content": {"text": TEXT, "footer": {"id": 7}}}).json()
    assert answer["medcat_info"] == medcat.get("/api/info").json()
    assert answer["medcat_info"]["service_app_name"] == "spacy_bergamot"
    result = answer["result"]
    assert (result["text"], result["success"], result["footer"]) == (TEXT, True, {"id": 7})
    assert result["elapsed_time"] > 0
    assert result["timestamp"].endswith("+00:00")
    (mentions,) = result["annotations"]
    assert list(mentions) == ["0", "1"]
    first = mentions["0"]
    assert set(first) == FIELDS
    assert TEXT[first["start"] : first["end"]] == first["source_value"] == "Bluthochdruck"
    assert (first["cui"], first["pretty_name"]) == ("C01", "Hypertension")
    assert (first["type_ids"], first["types"]) == (["T047"], ["Disease or Syndrome"])
    assert (first["icd10"], first["acc"], first["id"]) == (["I10"], 1, 0)
    assert mentions["1"]["detected_name"] == "heart~attack"


def test_texts_are_annotated_in_order_and_one_that_fails_says_so(medcat):
    texts = ["Fieber", "", "explode secret", "nothing", "insulin"]
    answer = medcat.post("/api/process_bulk", {"content": [{"text": text} for text in texts]})
    results = answer.json()["result"]
    assert [one["success"] for one in results] == [True, True, False, True, True]
    found = [[each["cui"] for each in one.get("annotations", [{}])[0].values()] for one in results]
    assert found == [["C10"], [], [], [], ["C08"]]
    assert "KeyError" in results[2]["errors"][0]
    assert "secret" not in results[2]["errors"][0]
    assert medcat.post("/api/process_bulk", {"content": []}).json()["result"] == []


def test_what_is_not_as_medcat_has_it_is_refused(medcat):
    for body in (
        {"content": {}},
        {"content": {"text": "x", "txt": "y"}},
        {"content": {"text": "x"}, "meta_anns_filters": [["Presence", ["True"]]]},
        {"text": "x"},
    ):
        assert medcat.refused("/api/process", body)
    assert medcat.refused("/api/process_bulk", {"content": [{"text": "x"}] * 1001})


def test_it_says_whether_it_is_ready(medcat):
    assert medcat.get("/api/health/live").json()["status"] == "UP"
    answer = medcat.get("/api/health/ready")
    assert answer.json() == {"status": "UP", "checks": [{"name": "MedCAT", "status": "UP"}]}


def test_the_routes_are_there_only_if_wanted_and_want_the_key(service, serve_app, make_nlp):
    assert service.get("/api/info").status_code == 404
    closed = serve_app(create_app(make_nlp(), keys=["k"], hosts=LOOPBACK, medcat=True))
    assert closed.get("/api/info").status_code == 401
    assert closed.get("/api/info", headers={"authorization": "Bearer k"}).status_code == 200
