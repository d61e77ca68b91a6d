"""Rerankers see mentions in context, documents together, and may answer NIL; some have files."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import registry

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.pipeline.loaders import alias_index, language_model, reranker
from tests.spacy_bergamot.factories import invoke

EXACT = {"@misc": "spacy_bergamot.ExactGenerator.v1"}


def nil(score: float) -> Candidate:
    return Candidate(NIL, score, "", "", "", "test")


class Doubter:
    """Puts NIL before all candidates where the text has a word, and behind them elsewhere."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.seen: list[list[list[Mention]]] = []

    def __call__(self, mentions, candidates, kb):
        raise AssertionError("documents come together")

    def rerank_documents(self, mentions, candidates, kb):
        self.seen.append([list(of) for of in mentions])
        return [
            [
                [nil(0.9), *found] if self.word in mention.context else [*found, nil(0.1)]
                for mention, found in zip(of, found_of, strict=True)
            ]
            for of, found_of in zip(mentions, candidates, strict=True)
        ]


@registry.misc("test.Doubter.v1")
def make_doubter(word: str) -> Doubter:
    return Doubter(word)


@dataclass(frozen=True)
class Learned:
    """Prefers the concept that its file names."""

    favourite: str = ""

    def opened(self, folder: Path, *, index: str) -> "Learned":
        return replace(self, favourite=(folder / "favourite").read_text())

    def __call__(self, mentions, candidates, kb):
        return [sorted(of, key=lambda c: c.concept_id != self.favourite) for of in candidates]


@registry.misc("test.Learned.v1")
def make_learned() -> Learned:
    return Learned()


def marked(nlp: Language, text: str, *mentions: str, language: str = "") -> Doc:
    doc = nlp.make_doc(text)
    if language:
        doc.user_data["language"] = language
    starts = [text.rindex(mention) for mention in mentions]
    ends = [start + len(mention) for start, mention in zip(starts, mentions, strict=True)]
    doc.set_ents([doc.char_span(*place, label="X") for place in zip(starts, ends, strict=True)])
    return doc


@pytest.fixture
def doubtful(make_nlp: Callable[..., Language]) -> Language:
    rerank = {"@misc": "test.Doubter.v1", "word": "doubtful"}
    return make_nlp(mentions=False, generator=EXACT, rerank=rerank)


def test_the_documents_of_a_batch_come_together_and_mentions_are_whole(doubtful: Language):
    linker = doubtful.get_pipe("bergamot_linker")
    texts = ["A Cold.", "nothing", "Magnetic resonance imaging (MRI): the MRI showed a cold."]
    docs = [
        marked(doubtful, texts[0], "Cold", language="en"),
        doubtful.make_doc(texts[1]),
        marked(doubtful, texts[2], "MRI", "cold"),
    ]
    list(linker.pipe(docs))
    ((first, last),) = linker.settings.rerank.seen  # those that have mentions, in one call
    assert [mention.surface for mention in first + last] == ["Cold", "MRI", "cold"]
    assert (first[0].text, first[0].long_form, first[0].language) == ("cold", "", "ENG")
    assert last[0].text == "magnetic resonance imaging"
    assert (last[0].long_form, last[0].language) == ("Magnetic resonance imaging", "ENG")
    assert last[0].context == texts[2]


def test_nil_before_a_candidate_is_no_link_and_behind_it_nothing(doubtful: Language):
    linker = doubtful.get_pipe("bergamot_linker")
    for text, linked in (("a doubtful fever", False), ("a fever", True)):
        (ent,) = linker(marked(doubtful, text, "fever")).ents
        assert (ent.kb_id_ == "C10", ent.kb_id_ == NIL) == (linked, not linked)
        assert bool(ent._.kb_ents) == linked
        assert [c["concept_id"] for c in ent._.candidates] == ["C10"]  # NIL is no concept
    explained = linker.explain("fever", context="a doubtful fever")
    assert explained["decision"] == NIL
    assert [c["concept_id"] for c in explained["candidates"]] == ["C10"]
    assert "no candidate fits better than NIL, whose score is 0.9" in explained["reason"]


def test_the_command_explains_a_mention_that_is_nil(doubtful: Language, tmp_path: Path):
    doubtful.to_disk(tmp_path / "pipeline")
    result = invoke("explain", tmp_path / "pipeline", "fever", "--context", "a doubtful fever")
    assert "C10" in result.output
    assert "Decision: NIL, as no candidate fits better than NIL" in result.output


def test_nil_has_no_probability_and_mentions_with_nil_first_are_not_linked(
    make_nlp: Callable[..., Language],
):
    nlp = make_nlp(mentions=False, rerank={"@misc": "test.Doubter.v1", "word": "doubtful"})
    linker = nlp.get_pipe("bergamot_linker")
    scores = [number / 60 for number in range(60)]
    found = [[Candidate("C10", score, "fever", "ENG", "X", "dense")] for score in scores]
    golds = [frozenset(["C10"] if score > 0.5 else ["C03"]) for score in scores]
    behind = linker.calibrate_on([[*of, nil(-1.0)] for of in found], golds)
    before = linker.calibrate_on([[nil(1.0)] * (n < 10) + of for n, of in enumerate(found)], golds)
    assert (behind["linked"], before["linked"]) == (60, 50)
    doc = linker(marked(nlp, "a doubtful fever", "fever"))
    assert doc.ents[0].kb_id_ == NIL
    assert all("probability" in candidate for candidate in doc.ents[0]._.candidates)


@pytest.fixture
def learned(concepts: Path, lm: Path, tmp_path: Path) -> Language:
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained/favourite").write_text("C02")
    nlp = spacy.blank("xx")
    config = {"rerank": {"@misc": "test.Learned.v1"}}
    nlp.add_pipe("bergamot_linker", config=config).initialize(
        lambda: [],
        nlp=nlp,
        encoder=language_model(str(lm)),
        index=alias_index(str(concepts), engine="exact"),
        reranker=reranker(str(tmp_path / "trained")),
    )
    return nlp


def best(nlp: Language) -> str:
    doc = nlp.get_pipe("bergamot_linker")(marked(nlp, "heart attacks", "heart attacks"))
    return doc.ents[0].kb_id_


def test_a_trained_reranker_is_saved_with_the_pipeline_in_every_form(
    learned: Language, tmp_path: Path
):
    learned.to_disk(tmp_path / "pipeline")
    copy = spacy.blank("xx")
    copy.add_pipe("bergamot_linker", config={"rerank": {"@misc": "test.Learned.v1"}})
    for nlp in (
        learned,
        spacy.load(tmp_path / "pipeline"),
        copy.from_bytes(learned.to_bytes()),
        pickle.loads(pickle.dumps(learned)),
    ):
        assert best(nlp) == "C02"
    loaded = spacy.load(tmp_path / "pipeline")
    loaded.get_pipe("bergamot_linker").update_index(
        [{"action": "add", "concept_id": "C03", "alias": "cor attack"}]
    )
    assert best(loaded) == "C02"


def test_a_trained_reranker_without_its_files_is_refused(learned: Language, tmp_path: Path):
    learned.to_disk(tmp_path / "pipeline")
    for file in (tmp_path / "pipeline/bergamot_linker/reranker").iterdir():
        file.unlink()
    (tmp_path / "pipeline/bergamot_linker/reranker").rmdir()
    with pytest.raises(BergamotError, match=r"B146.*bergamot_linker"):
        spacy.load(tmp_path / "pipeline")
