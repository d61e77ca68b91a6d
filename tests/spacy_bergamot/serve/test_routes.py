"""What the service answers: the same as the pipeline."""

import json
from pathlib import Path

import pytest

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.output.exporters import to_dict
from spacy_bergamot.serve import bodies
from spacy_bergamot.serve.openapi import described

TEXTS = {
    "GER": "Der Patient hat Bluthochdruck und Fieber.",
    "JPN": "患者は高血圧と糖尿病がある。",
    "RUS": "У пациента гипертония и сахарный диабет 🙂, сердце в норме.",
    "ENG": "Heart attacks, a cold and magnetic resonance imaging (MRI). The MRI showed a heart.",
    "SPA": "",
    "CHI": "心肌梗死",
}


def expected(nlp, text: str, language: str | None = None, **how) -> dict:
    doc = nlp.make_doc(text)
    if language:
        doc.user_data["language"] = language
    return to_dict(nlp(doc), kb=nlp.get_pipe("bergamot_linker").kb, **how)


@pytest.mark.parametrize("language", [*TEXTS, None])
def test_texts_are_linked_as_the_pipeline_links_them(service, served, language):
    for said, text in TEXTS.items():
        if language in (said, None):
            answer = service.post("/v1/link", {"text": text, "language": language})
            assert answer.json() == {"documents": [expected(served, text, language)]}


def test_documents_come_back_in_order_with_their_ids_and_languages(service, served):
    documents = [
        {"id": number, "text": text, "language": language.lower() if number % 2 else None}
        for number, (language, text) in enumerate(list(TEXTS.items()) * 20)
    ]
    answer = service.post("/v1/link", {"documents": documents}).json()
    bodies.LinkAnswer.model_validate(answer)
    want = {
        (language, said): expected(served, text, language if said else None)
        for language, text in TEXTS.items()
        for said in (False, True)
    }
    languages = list(TEXTS) * 20
    assert answer["documents"] == [
        {"id": number, **want[languages[number], bool(number % 2)]} for number in range(120)
    ]


def test_candidates_have_the_names_of_their_concepts(service, served):
    (found,) = service.link("Fieber", candidates=True)
    (want,) = expected(served, "Fieber", candidates=True)["ents"]
    kb = served.get_pipe("bergamot_linker").kb
    for candidate, wanted in zip(found["candidates"], want["candidates"], strict=True):
        name, types = kb.name_and_types(wanted["concept_id"])
        assert candidate == {**wanted, "name": name, "types": types}


def test_given_mentions_are_linked_wherever_they_begin_and_though_they_overlap(service):
    text = "患者は高血圧症で、heart attacks"
    start = text.index("heart")
    places = [(3, 6), (start, start + 5), (start, start + 12), (start, start + 12)]
    mentions = [{"start": start, "end": end, "label": "DISO"} for start, end in places]
    answer = service.post("/v1/link", {"documents": [{"text": text, "mentions": mentions}]})
    found = answer.json()["documents"][0]["ents"]
    assert [(one["start"], one["end"], one["kb_id"]) for one in found] == [
        (3, 6, "C01"), (start, start + 5, "C06"),
        (start, start + 12, "C03"), (start, start + 12, "C03"),
    ]  # fmt: skip
    none = service.post("/v1/link", {"documents": [{"text": "Fieber", "mentions": []}]})
    assert none.json()["documents"][0]["ents"] == []


def test_mentions_by_themselves_and_in_a_context(service):
    context = "Bluthochdruck (BHD). BHD seit Jahren."
    asked = ["fieber", {"text": "BHD", "context": context}, {"text": "MRI", "label": "PROC"}]
    answer = service.post("/v1/mentions", {"mentions": asked, "k": 2}).json()
    bodies.MentionsAnswer.model_validate(answer)
    assert [(one["text"], one["kb_id"]) for one in answer["mentions"]] == [
        ("fieber", "C10"), ("BHD", "C01"), ("MRI", "C09"),
    ]  # fmt: skip
    assert all(len(one["candidates"]) <= 2 for one in answer["mentions"])


def test_a_request_has_its_own_filters_and_numbers(service, served):
    found = service.link("A cold.", semantic_groups=["PHEN"], candidates=True)
    assert [one["kb_id"] for one in found] == ["C05"]
    assert {one["concept_id"] for one in found[0]["candidates"]} == {"C05"}
    assert service.link("A cold.", semantic_types=["T070"])[0]["kb_id"] == "C05"
    assert service.link("heart and fever", semantic_groups=["ANAT"])[0]["text"] == "heart"
    assert len(service.link("heart and fever", semantic_groups=["ANAT"])) == 1
    (by_name,) = service.link("Fieber", languages=["ja"], candidates=True)
    assert {one["language"] for one in by_name["candidates"]} == {"JPN"}
    (by_source,) = service.link("Fieber", sources=["SRCGER"], candidates=True)
    assert {one["source"] for one in by_source["candidates"]} == {"SRCGER"}
    (below,) = service.link("heart attack", descendants_of=["C06"], candidates=True)
    assert {one["concept_id"] for one in below["candidates"]} <= {"C06", "C03"}
    (two,) = service.link("Fieber", k=2, languages=["JPN"], candidates=True)
    assert len(two["candidates"]) == 2
    marked = {"documents": [{"text": "febrile", "mentions": [{"start": 0, "end": 7}]}]}
    for threshold, nil in ((-1, False), (1, True)):
        answer = service.post("/v1/link", {**marked, "threshold": threshold}).json()
        assert (answer["documents"][0]["ents"][0]["kb_id"] == "NIL") is nil
    assert service.link("Fieber") == expected(served, "Fieber")["ents"]  # nothing has stayed


def test_a_link_is_as_probable_whatever_number_of_candidates_is_shown(start, make_nlp):
    nlp = make_nlp(k=5)
    pairs = [(number / 60, number / 120) for number in range(60)]
    found = [
        [Candidate("C10", one, "fever", "ENG", "X", "dense"),
         Candidate("C03", two, "MI", "ENG", "X", "dense")] for one, two in pairs
    ]  # fmt: skip
    golds = [frozenset(["C10"] if one - two > 0.2 else ["C01"]) for one, two in pairs]
    nlp.get_pipe("bergamot_linker").calibrate_on(found, golds)
    client = start(nlp)

    def candidates(**how) -> list[dict]:
        answer = client.post("/v1/mentions", {"mentions": ["colds and fevers"], **how}).json()
        return answer["mentions"][0]["candidates"]

    assert len(candidates()) == 5
    for k in (1, 2, 5):
        assert candidates(k=k) == candidates()[:k]
    assert len(candidates(k=9)) == 9
    body = {"mention": "colds and fevers", "k": 1}
    (shown,) = client.post("/v1/explain", body).json()["candidates"]
    assert shown["probability"] == candidates()[0]["probability"]


def test_lines_in_and_lines_out(service, served):
    lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate(TEXTS.values())] * 10
    lines[3:3] = ["{not json", '{"id": 7}', '{"text": "x", "language": "klingon"}', ""]
    answer = service.post(
        "/v1/link/ndjson?candidates=true&language=de", data="\n".join(lines).encode(),
        headers={"content-type": "application/x-ndjson"},
    )  # fmt: skip
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert len(found) == len(lines) - 1
    assert [bool(one.get("error")) for one in found[2:7]] == [False, True, True, True, False]
    assert found[4]["fields"][0]["field"] == "text"
    assert found[5]["fields"][0]["field"] == "language"
    want = expected(served, TEXTS["GER"], "GER", candidates=False)["ents"]
    assert [{**one, "candidates": None} for one in found[0]["ents"]] == [
        {**one, "candidates": None} for one in want
    ]


def test_links_are_explained(service, served):
    asked = {"mention": "cold", "semantic_groups": ["PHEN"], "context": "a cold"}
    found = service.post("/v1/explain", asked).json()
    bodies.Explanation.model_validate(found)
    assert found["decision"] == "C05"
    (dropped,) = {(one["concept_id"], one["reason"]) for one in found["dropped"]
                  if one["concept_id"] == "C04"}  # fmt: skip
    assert dropped == ("C04", "semantic type")
    plain = service.post("/v1/explain", {"mention": "BHD", "context": "Bluthochdruck (BHD)"})
    assert plain.json()["looked_up"] == "bluthochdruck"
    nil = service.post("/v1/explain", {"mention": "xyz", "threshold": 1}).json()
    assert nil["decision"] == "NIL"
    assert "below threshold" in nil["reason"]


def test_concepts_have_names_codes_and_relatives(service):
    found = service.get("/v1/concepts/C01").json()
    bodies.Concept.model_validate(found)
    assert found["names"]["GER"] == [{"name": "Bluthochdruck", "sources": ["SRCGER"]}]
    assert found["codes"] == {"ICD10CM": ["I10"], "SRCENG": ["x1"]}
    assert found["types"] == [{"id": "T047", "name": "Disease or Syndrome"}]
    assert found["groups"] == [{"id": "DISO", "name": "Disorders"}]
    assert found["definition"] == "A definition."
    assert service.get("/v1/concepts/C06").json()["children"] == [
        {"id": "C03", "name": "myocardial infarction"}
    ]
    for unknown in ("C99", "a/b%2F..%2F", "%F0%9F%99%82"):
        assert service.get(f"/v1/concepts/{unknown}").status_code == 404


def test_codes_lead_to_their_concepts(service):
    def found(source: str, code: str) -> list[dict]:
        return service.get("/v1/codes", params={"source": source, "code": code}).json()["concepts"]

    assert found("ICD10CM", "I10") == [{"id": "C01", "name": "Hypertension"}]
    assert found("ICD10CM", "ICD10CM:I10") == found("ICD10CM", "I10")
    assert found("SRCENG", "I10") == []
    answer = service.get("/v1/codes", params={"source": "ICD11", "code": "I10"})
    assert answer.status_code == 422
    assert "known are ICD10CM, SRCENG" in answer.json()["fields"][0]["message"]


def test_concepts_are_found_while_somebody_types(service):
    def found(q: str, **how) -> list[tuple[str, str]]:
        answer = service.get("/v1/search", params={"q": q, **how}).json()
        bodies.SearchAnswer.model_validate(answer)
        return [(one["id"], one["alias"]) for one in answer["concepts"]]

    assert found("diab")[0] == ("C02", "diabetes")
    assert found("HIGH  bl")[0] == ("C01", "high blood pressure")
    assert found("糖")[0] == ("C02", "糖尿病")
    assert found("c07")[0] == ("C07", "aspirin")
    assert {concept for concept, _ in found("cold")[:2]} == {"C04", "C05"}
    assert found("hypertnsion")[0][0] == "C01"
    assert len(found("", limit=3)) == 0
    assert len(found("h", limit=1)) == 1
    assert "diabetes mellitus" in [alias for _, alias in found("mellitus diabetes", similar=True)]
    assert found("\x00") == []


def test_info_says_what_may_be_asked_for(service, served):
    found = service.get("/v1/info").json()
    bodies.Info.model_validate(found)
    assert {one["code"] for one in found["languages"]} == set(TEXTS)
    assert {"code": "GER", "iso": "de", "name": "German", "names": 4} in found["languages"]
    assert {"id": "DISO", "name": "Disorders", "count": 5} in found["semantic_groups"]
    assert found["settings"]["k"] == 5
    assert found["provenance"] == served.get_pipe("bergamot_linker").parts.provenance


def test_the_committed_description_of_the_routes_is_true():
    path = Path(__file__).parents[3] / "docs/openapi.json"
    remedy = "python -m spacy_bergamot.serve.openapi docs/openapi.json"
    assert json.loads(path.read_text(encoding="utf8")) == json.loads(described()), remedy
