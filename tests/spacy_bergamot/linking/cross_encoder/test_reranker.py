"""The reranker reads what the mix is in doubt of, whatever else is in the batch."""

from pathlib import Path
from typing import Any

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.cross_encoder.reranker import CrossEncoder, make_cross_encoder
from spacy_bergamot.linking.mention import Mention
from tests.spacy_bergamot.factories import candidate

TEXTS = ["a heart attack", "the common cold is here", "fever in the heart", "no"]


def opened(folder: Path, index: AliasIndex, **settings: Any) -> CrossEncoder:
    return make_cross_encoder(**settings).opened(folder, index=index.fingerprint)


def documents() -> tuple[list[list[Mention]], list[list[list[Candidate]]]]:
    """Return mentions, each a whole text, and candidates; the last has none."""
    mentions = [[Mention(text, "X", text, 0, len(text))] for text in TEXTS]
    found = [[candidate("C03", 0.9), candidate("C10", 0.8)], [candidate("C10", 0.5)]]
    return mentions, [[found[0]], [found[1]], [found[0][::-1]], [[]]]


def plain(results: list[list[list[Candidate]]]) -> list[list[tuple[str, float]]]:
    return [[(c.concept_id, round(c.score, 4)) for c in of] for found in results for of in found]


def test_candidates_get_probabilities_and_say_what_they_were(
    trained: Path, index: AliasIndex, kb: KnowledgeBase
):
    mentions, found = documents()
    results = opened(trained, index, margin=2).rerank_documents(mentions, found, kb)
    assert results[3] == [[]]
    for (of,) in results[:3]:
        assert sum(one.score for one in of) == pytest.approx(1, abs=1e-5)
        assert all({"mix", "cross_encoder"} <= one.scores.keys() for one in of)
        assert [one.score for one in of] == sorted((one.score for one in of), reverse=True)
    assert results[0][0] == opened(trained, index, margin=2)(mentions[0], found[0], kb)[0]


def test_documents_do_not_depend_on_each_other(trained: Path, index: AliasIndex, kb: KnowledgeBase):
    reranker = opened(trained, index, margin=2)
    mentions, found = documents()
    together = plain(reranker.rerank_documents(mentions, found, kb))
    backwards = plain(reranker.rerank_documents(mentions[::-1], found[::-1], kb))[::-1]
    alone = [plain([reranker(*one, kb)])[0] for one in zip(mentions, found, strict=True)]
    assert together == backwards == alone


def test_a_clear_mention_is_not_read_and_nil_may_be_left_out(
    trained: Path, index: AliasIndex, kb: KnowledgeBase
):
    mentions, found = documents()
    unread = opened(trained, index, margin=0).rerank_documents(mentions, found, kb)
    assert all("cross_encoder" not in one.scores for (of,) in unread for one in of)
    without = opened(trained, index, margin=2, nil=False).rerank_documents(mentions, found, kb)
    assert not any(one.concept_id == NIL for (of,) in without for one in of)
    assert sum(one.score for one in without[0][0]) < 1


def test_settings_and_files_that_do_not_fit_are_refused(trained: Path):
    with pytest.raises(BergamotError, match=r"B037.*margin"):
        make_cross_encoder(margin=float("nan"))
    with pytest.raises(BergamotError, match=r"B037.*k of"):
        make_cross_encoder(k=0)
    with pytest.raises(BergamotError, match="B050"):
        make_cross_encoder().opened(trained, index="another")


def test_a_calibration_belongs_to_settings_and_weights(trained: Path, index: AliasIndex):
    assert repr(opened(trained, index)) != repr(make_cross_encoder())
    assert repr(opened(trained, index)) == repr(opened(trained, index))
    assert repr(opened(trained, index, margin=0.5)) != repr(opened(trained, index))
