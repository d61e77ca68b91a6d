"""A trained cross-encoder is a part of the pipeline, in whatever form that is kept."""

import pickle
import random
import shutil
from pathlib import Path

import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from tests.benchmark_figures import figures
from tests.spacy_bergamot.conftest import write_lm
from tests.spacy_bergamot.factories import invoke
from tests.training.cross_encoder.conftest import Learned
from tests.training.rerank.conftest import (
    accuracy,
    documents,
    links,
    write_homonyms,
    write_pipeline,
)

ROOT = Path(__file__).parents[3]
CROSS, MIX = "spacy_bergamot.CrossEncoder.v1", "spacy_bergamot.LearnedMix.v1"
READ_ALL = {"components": {"bergamot_linker": {"rerank": {"margin": 2.0}}}}


@pytest.fixture(scope="session")
def reranked(doubtful: Path, learned: Learned, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("reranked") / "pipeline"
    shown = invoke("rerank", doubtful, learned.folder, output)
    assert "reranked by" in shown.output
    return output


def test_homonyms_are_told_apart_by_a_word_of_the_context(doubtful: Path, reranked: Path):
    numbers = range(300, 348)
    assert accuracy(links(spacy.load(doubtful), numbers)) == 0.5
    found = links(spacy.load(reranked, config=READ_ALL), numbers)
    assert accuracy(found) > 0.95
    for _, candidates in found:
        assert sum(score for _, score in candidates) <= 1 + 1e-5


def test_saved_pickled_and_spawned_pipelines_give_equal_scores(reranked: Path, tmp_path: Path):
    nlp = spacy.load(reranked)
    expected = links(nlp, range(300, 312))
    nlp.to_disk(tmp_path / "again")
    copy = spacy.blank("en")
    config = {**nlp.get_pipe_config("bergamot_linker")}
    copy.add_pipe(config.pop("factory"), config=config)
    for other in (
        spacy.load(tmp_path / "again"),
        pickle.loads(pickle.dumps(nlp)),
        copy.from_bytes(nlp.to_bytes()),
    ):
        assert links(other, range(300, 312)) == expected
    docs = documents(nlp, range(300, 304))
    spawned = [doc.ents[0]._.candidates for doc in nlp.pipe(docs, n_process=2, batch_size=2)]
    for found, (_, of) in zip(spawned, expected[:8], strict=True):
        assert [c["concept_id"] for c in found] == [concept for concept, _ in of]
        assert [c["score"] for c in found] == pytest.approx([score for _, score in of], abs=1e-5)


def test_the_order_of_documents_changes_nothing(reranked: Path):
    nlp = spacy.load(reranked)
    linker = nlp.get_pipe("bergamot_linker")
    docs = documents(nlp, range(300, 310))
    shuffled = random.Random(0).sample(docs, len(docs))
    before = dict(zip(map(id, docs), linker.predict(docs), strict=True))
    for doc, found in zip(shuffled, linker.predict(shuffled), strict=True):
        for one, other in zip(before[id(doc)], found, strict=True):
            assert [c.concept_id for c in one] == [c.concept_id for c in other]
            assert [c.score for c in one] == pytest.approx([c.score for c in other], abs=1e-5)


def test_odd_documents(reranked: Path):
    nlp = spacy.load(reranked, config=READ_ALL)
    long = nlp.make_doc("cold " * 200)
    long.set_ents([long.char_span(0, 999, label="DISO")])
    strange = nlp.make_doc("seen %% here")
    strange.set_ents([strange.char_span(5, 7, label="DISO", alignment_mode="expand")])
    docs = [nlp.make_doc(""), nlp.make_doc("no mention"), long, strange]
    linked = list(nlp.get_pipe("bergamot_linker").pipe(docs))
    assert [len(doc.ents) for doc in linked] == [0, 0, 1, 1]
    assert linked[3].ents[0].kb_id_ == "NIL"


def test_one_of_another_index_or_of_other_generators_is_refused(
    words_lm: Path, learned: Learned, reranked: Path, tmp_path: Path
):
    config = {"components": {"bergamot_linker": {"generator": {"agreement": 0.5}}}}
    with pytest.raises(BergamotError, match=r"B148.*agreement=0\.5"):
        spacy.load(reranked, config=config)
    other = write_homonyms(tmp_path / "kb")
    plain = write_pipeline(tmp_path / "plain", words_lm, other)
    shown = invoke("rerank", plain, learned.folder, tmp_path / "out", status=1)
    assert "B050" in shown.output
    another_base = write_lm(tmp_path / "lm", seed=1)
    plain = write_pipeline(tmp_path / "plain2", another_base, other)
    shown = invoke("rerank", plain, learned.folder, tmp_path / "out", status=1)
    assert "B050" in shown.output
    assert not (tmp_path / "out").exists()


def test_files_of_a_reranker_of_another_kind_are_refused(reranked: Path, tmp_path: Path):
    other = tmp_path / "other"
    shutil.copytree(reranked, other)
    config = spacy.util.load_config(other / "config.cfg")
    assert config["components"]["bergamot_linker"]["rerank"]["@misc"] == CROSS
    config["components"]["bergamot_linker"]["rerank"] = {"@misc": MIX}
    config.to_disk(other / "config.cfg")
    with pytest.raises(BergamotError, match="B003"):
        spacy.load(other)


def test_the_benchmark_shows_what_is_gained(doubtful: Path, learned: Learned, gold: Path):
    given = [doubtful, gold, gold, "--cross-encoder", learned.folder]
    found = figures("benchmarks.context", *given)
    assert [*found][-2:] == ["learned mix", "cross-encoder"]
    cross = found["cross-encoder"]
    assert cross["acc_1"] > found["learned mix"]["acc_1"]
    assert cross["ms"] > 0
    assert 0 <= cross["ece_calibrated"] <= 1
