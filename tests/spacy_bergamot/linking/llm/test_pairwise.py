"""A rerank endpoint scores every candidate; it is tested before it is believed."""

import pytest

from tests.spacy_bergamot.linking.llm.conftest import IDS, Reply, found, mention


def ranks(body: dict, *scores: float) -> dict:
    """Return scores of documents, the last one first; of the test's two the right ones."""
    if body["documents"][0].startswith("bicycle"):
        scores = (min(scores), max(scores))
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    return {"results": results[::-1]}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((0.1, 0.7, 0.2), (0.7, 0.2, 0.1)), ((-2.0, 3.0, 0.5), (0.952574, 0.622459, 0.119203))],
)
def test_candidates_are_ordered_by_their_scores(llm, server, kb, scores, expected):
    server.reply = lambda body: ranks(body, *scores)
    reranker = llm(mode="pairwise", k=3, extra={"truncate": 512})
    (changed,) = reranker([mention(long_form="common cold")], [found(*IDS, "C06")], kb)
    assert [one.concept_id for one in changed] == ["C05", "C10", "C04", "C06"]
    assert tuple(one.score for one in changed) == (*expected, 0)
    assert changed[0].scores["llm"] == expected[0]
    reranker([mention("Another cold.")], [found(*IDS)], kb)
    assert server.paths == ["/v1/rerank"] * 3  # the test once
    assert server.bodies[1] == {
        "model": "m",
        "query": "Type: DISO\nText: She has a ⟦cold⟧.\nLong form: common cold",
        "documents": [
            "common cold | Disease or Syndrome | also: cold",
            "cold temperature | Natural Phenomenon or Process | also: cold",
            "fever | Sign or Symptom | also: Fieber; pyrexia",
        ],
        "truncate": 512,
    }


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ([], "one of each candidate"),
        ([{"index": 0, "relevance_score": 0.5}] * 3, "one of each candidate"),
        ([{"index": n, "relevance_score": 0.5} for n in (1, 2, 3)], "one of each candidate"),
        ([{"index": n, "relevance_score": s} for n, s in enumerate([0.5, None, 0.1])], "one of"),
        ([{"index": n, "relevance_score": s} for n, s in enumerate([0.5, True, 0.1])], "one of"),
        ([{"index": n, "relevance_score": s} for n, s in enumerate([0.5, 7.0, 0.1])], "one of"),
        ([{"index": n, "score": 0.5} for n in range(3)], "one of each candidate"),
        ({"0": 0.5}, "one of each candidate"),
    ],
)
def test_nonsense_keeps_the_order(llm, server, kb, results, reason):
    def reply(body):
        test = body["documents"][0].startswith("bicycle")
        return ranks(body, 0.1, 0.9) if test else {"results": results}

    server.reply = reply
    with pytest.warns(UserWarning, match=f"W180.*{reason}"):
        (changed,) = llm(mode="pairwise")([mention()], [found(*IDS)], kb)
    assert changed == found(*IDS)


@pytest.mark.parametrize(
    ("first", "second"), [(0.9, 0.1), (1e-20, 2e-20), (0.5, 0.5), (float("nan"), 0.5)]
)
def test_an_endpoint_that_fails_the_test_is_not_asked(llm, server, kb, first, second):
    pair = [{"index": 0, "relevance_score": first}, {"index": 1, "relevance_score": second}]
    server.reply = lambda body: {"results": pair}
    reranker = llm(mode="pairwise")
    with pytest.warns(UserWarning, match=r"W180.*2 of 2.*a bicycle not below a heart attack"):
        changed = reranker([mention(), mention("A cold.")], [found(*IDS)] * 2, kb)
    assert changed == [found(*IDS)] * 2
    assert len(server.bodies) == 1
    server.reply = lambda body: ranks(body, 0.1, 0.7, 0.2)  # it was mended
    assert reranker([mention()], [found(*IDS)], kb)[0][0].concept_id == "C05"


def test_an_endpoint_that_is_missing_keeps_the_order(llm, server, kb):
    server.reply = lambda body: Reply("", status=404)
    with pytest.warns(UserWarning, match="W180.*status 404"):
        assert llm(mode="pairwise")([mention()], [found(*IDS)], kb) == [found(*IDS)]
