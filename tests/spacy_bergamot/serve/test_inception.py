"""INCEpTION's remote lookup, as its client calls it."""

from typing import Any

import pytest


@pytest.fixture
def look(service):
    def look(status: int = 200, **parameters: Any) -> Any:
        answer = service.get("/inception/lookup", params=parameters)
        assert answer.status_code == status, answer.text
        return answer.json()

    return look


def test_what_is_typed_is_searched_as_a_name(look):
    (first, *_) = look(q="fev", l=20, qc="Bluthochdruck")
    assert first == {"id": "C10", "l": "fever", "d": "fever (en)"}
    assert len(look(q="co", l=1)) == 1
    assert look(q="zzzzzz", l=9) == []


def test_while_nothing_is_typed_the_selected_text_is_linked(look):
    found = look(q="", qc="Bluthochdruck", l=3)
    assert found[0] == {"id": "C01", "l": "Hypertension", "d": "Bluthochdruck (de)"}
    assert len(found) <= 3
    assert look(q=" ", l=5) == []


def test_an_id_is_shown_or_not_found(look):
    assert look(id="C01") == {"id": "C01", "l": "Hypertension", "d": "A definition."}
    assert look(id="C02")["d"] == "Disease or Syndrome"
    look(404, id="C99")


def test_what_cannot_be_looked_up_is_refused(look):
    for wrong in ({}, {"q": "x", "l": 0}, {"q": "x", "l": "many"}, {"q": "x" * 1001, "l": 1}):
        assert look(422, **wrong)["fields"]


def test_it_wants_the_key_as_the_rest_does(start, make_nlp):
    closed = start(make_nlp(), keys=("k",))
    assert closed.get("/inception/lookup", params={"id": "C01"}).status_code == 401
