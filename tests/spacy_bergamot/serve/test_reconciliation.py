"""The Reconciliation Service API 0.2, as OpenRefine calls it."""

import json
from typing import Any

import pytest
import requests

ORIGIN = {"origin": "http://127.0.0.1:3333"}


@pytest.fixture
def asked(service):
    """Ask by form, as OpenRefine does."""

    def ask(status: int = 200, **fields: Any) -> Any:
        data = {name: json.dumps(value) for name, value in fields.items()}
        answer = requests.post(f"{service.base}/reconcile", data=data, timeout=60)
        assert answer.status_code == status, answer.text
        return answer.json()

    return ask


def test_the_manifest_names_services_that_answer(service):
    manifest = service.get("/reconcile").json()
    assert manifest["versions"] == ["0.2"]
    assert {"name", "identifierSpace", "schemaSpace", "view"} <= manifest.keys()
    assert {"id": "DISO", "name": "Disorders"} in manifest["defaultTypes"]
    for kind, prefix in {"entity": "fev", "type": "disease", "property": "icd"}.items():
        at = manifest["suggest"][kind]
        answer = requests.get(at["service_url"] + at["service_path"], {"prefix": prefix}, timeout=9)
        (first, *_) = answer.json()["result"]
        assert first["id"] in ("C10", "T047", "codes:ICD10CM")
        assert first["name"]
    at = manifest["extend"]["propose_properties"]
    answer = requests.get(at["service_url"] + at["service_path"], {"type": "T047"}, timeout=9)
    assert {"id": "codes:ICD10CM", "name": "ICD10CM code"} in answer.json()["properties"]
    shown = requests.get(manifest["preview"]["url"].replace("{{id}}", "C01"), timeout=9)
    assert "<h1>Hypertension</h1>" in shown.text
    assert "Bluthochdruck" in shown.text


def test_texts_in_any_language_are_reconciled(asked):
    texts = {"a": "Bluthochdruck", "b": "糖尿病", "c": "cold", "d": " ", "e": "гипертония"}
    queries: dict[str, Any] = {key: {"query": text, "limit": 3} for key, text in texts.items()}
    queries["c"] |= {"type": ["PHEN"], "type_strict": "should", "properties": []}
    found = asked(queries=queries)
    best = {key: of["result"][0]["id"] for key, of in found.items() if of["result"]}
    assert best == {"a": "C01", "b": "C02", "c": "C05", "e": "C01"}
    assert found["d"] == {"result": []}
    first = found["a"]["result"][0]
    assert (first["name"], first["match"], first["score"]) == ("Hypertension", True, 100)
    assert first["type"] == [{"id": "T047", "name": "Disease or Syndrome"}]
    assert {feature["id"] for feature in first["features"]} >= {"exact"}
    assert sum(one["match"] for one in found["a"]["result"]) == 1
    assert all(len(of["result"]) <= 3 for of in found.values())


def test_a_query_may_say_its_language(start, make_nlp):
    short = {"es": {"XY": "hipertensión"}, "de": {"XY": "Fieber"}}
    client = start(make_nlp(abbreviations=short))

    def best(language: Any) -> str:
        said = [{"pid": "other", "v": 1}, {"pid": "language", "v": language}]
        queries = {"a": {"query": "XY", "properties": said}}
        data = {"queries": json.dumps(queries)}
        answer = requests.post(f"{client.base}/reconcile", data=data, timeout=60)
        return answer.json()["a"]["result"][0]["id"]

    assert (best("es"), best("SPA"), best("de")) == ("C01", "C01", "C10")
    for unknown in ("", "no language", None, 3, ["de"]):
        assert best(unknown)
    found = client.get("/reconcile/suggest/property", params={"prefix": "lang"}).json()["result"]
    assert found[0]["id"] == "language"


def test_a_column_can_have_one_value_a_row(asked):
    one = {"id": "names", "settings": {"limit": 1}}
    wanted = [{"id": "codes:ICD10CM", "settings": {"limit": "1"}}, {"id": "types"}]
    assert asked(422, extend={"ids": ["C01"], "properties": [one]})["fields"]
    found = asked(extend={"ids": ["C01"], "properties": wanted})["rows"]["C01"]
    assert found["codes:ICD10CM"] == [{"str": "I10"}]
    less = {"id": "types", "settings": {"limit": -1}}
    assert asked(422, extend={"ids": ["C01"], "properties": [less]})["fields"]


def test_the_client_of_python_reconciles_a_column(service):
    reconciler = pytest.importorskip("reconciler", reason="the extra `test` is not installed")
    import pandas

    table = pandas.DataFrame({"mention": ["Bluthochdruck", "cold"], "language": ["de", "en"]})
    found = reconciler.reconcile(
        table["mention"],
        type_id="DISO",
        property_mapping={"language": table["language"]},
        reconciliation_endpoint=f"{service.base}/reconcile",
    )
    assert found["id"].tolist() == ["C01", "C04"]
    assert found["match"].tolist() == [True, True]
    assert found["input_value"].tolist() == table["mention"].tolist()


def test_columns_are_filled_with_codes_parents_and_types(asked):
    wanted = ["codes:ICD10CM", "types", "groups", "parents", "definition"]
    extend = {"ids": ["C01", "C03", "C99"], "properties": [{"id": one} for one in wanted]}
    found = asked(extend=extend)
    assert [one["id"] for one in found["meta"]] == wanted
    assert found["rows"]["C01"] == {
        "codes:ICD10CM": [{"str": "I10"}],
        "types": [{"str": "Disease or Syndrome"}],
        "groups": [{"str": "Disorders"}],
        "parents": [],
        "definition": [{"str": "A definition."}],
    }
    assert found["rows"]["C99"] == {one: [] for one in wanted}


@pytest.mark.parametrize(
    "fields",
    [
        {"queries": []},
        {"queries": {"a": {}}},
        {"queries": {"a": {"query": None}}},
        {"queries": {"a": {"query": "x", "type": "T999"}}},
        {"queries": {"a": {"query": "x", "limit": 0}}},
        {"queries": {str(n): {"query": "x"} for n in range(1001)}},
        {"extend": {"ids": ["C01"]}},
        {"extend": {"ids": ["C01"], "properties": [{"id": "nothing"}]}},
        {"extend": 3},
    ],
)
def test_what_cannot_be_reconciled_is_refused(asked, fields):
    assert asked(422, **fields)["fields"]


def test_pages_of_this_machine_may_read_and_frame_it_and_no_others(service):
    answer = service.get("/reconcile", headers=ORIGIN)
    assert answer.headers["access-control-allow-origin"] == ORIGIN["origin"]
    shown = service.get("/reconcile/preview", params={"id": "C01"}, headers=ORIGIN)
    assert "frame-ancestors http://localhost:*" in shown.headers["content-security-policy"]
    assert "script" not in shown.headers["content-security-policy"]
    for path, origin in {
        "/reconcile": "https://evil.example",
        "/v1/info": ORIGIN["origin"],
    }.items():
        answer = service.get(path, headers={"origin": origin})
        assert "access-control-allow-origin" not in answer.headers
    data = b"queries=" + b"%22" * 10
    bad = requests.post(f"{service.base}/reconcile", data=data, timeout=9)
    assert bad.status_code == 415  # no content type
