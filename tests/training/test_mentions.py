"""Definitions as a corpus: a homonym means the concept that is related to the defined one."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_bergamot.kb_import.build import table_of
from spacy_bergamot.pipeline.build import build_pipeline
from tests.spacy_bergamot.conftest import write_lm
from training.__main__ import app
from training.corpora.schema import Corpus
from training.errors import BergamotError

TABLE = """id,name,synonyms,definition,type,parents
C1,common cold,cold,,T047,
C2,cold temperature,cold|rime,A cold of the air.,T070,
C3,rhinovirus infection,,Causes a cold in   winter; so does rhinovirus infection.,T047,C1
C4,frost,rime,"Rime: severe cold, and cold temperature, of the air.",T070,C2
C5,ice age,,Ages of cold without relations.,T070,
C6,zeal,,Neither here nor there.,T047,C1|C2
"""


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Language:
    folder = tmp_path_factory.mktemp("kb")
    (folder / "table.csv").write_text(TABLE, "utf8")
    table_of([folder / "table.csv"], folder / "concepts")
    lm = write_lm(folder / "lm")
    return build_pipeline(
        lm=lm, concepts=folder / "concepts", pooling="cls", engine="exact", lang="en"
    )


def run(nlp: Language, folder: Path, *options: object) -> str:
    nlp.to_disk(folder / "pipeline")
    words = ["mentions", folder / "pipeline", *options]
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_names_in_definitions_mean_the_related_concept(nlp: Language, tmp_path: Path):
    output = run(nlp, tmp_path, tmp_path / "corpus")
    assert output == "2 definitions with 3 mentions, 2 of them homonyms\n"
    corpus = Corpus.open(tmp_path / "corpus")
    rows = {
        (row["document"], row["mention"], *row["concepts"]) for row in corpus.mentions.to_pylist()
    }
    assert rows == {("C3", "cold", "C1"), ("C4", "cold", "C2"), ("C4", "cold temperature", "C2")}
    assert {row["language"] for row in corpus.documents.to_pylist()} == {"ENG"}


def test_a_docbin_is_what_a_reranker_learns_from(nlp: Language, tmp_path: Path):
    run(nlp, tmp_path, tmp_path / "train.spacy", "--limit", 1, "--seed", 3)
    (doc,) = DocBin().from_disk(tmp_path / "train.spacy").get_docs(spacy.blank("xx").vocab)
    assert {ent.kb_id_ for ent in doc.ents} <= {"C1", "C2"}
    assert {ent.label_ for ent in doc.ents} == {"MENTION"}


def test_a_pipeline_without_a_dictionary_is_refused(nlp: Language, tmp_path: Path):
    nlp.to_disk(tmp_path / "whole")
    bare = spacy.load(tmp_path / "whole", exclude=["bergamot_mentions"])
    with pytest.raises(BergamotError, match=r"B047.*bergamot_linker"):
        run(bare, tmp_path, tmp_path / "x.spacy")
    assert not (tmp_path / "x.spacy").exists()


def test_a_knowledge_base_without_definitions_is_refused(tmp_path: Path):
    lm = write_lm(tmp_path / "lm")
    names = {"C1": ["cold", "common cold"], "C2": ["cold"]}
    bare = build_pipeline(lm=lm, concepts=names, pooling="cls", engine="exact", lang="en")
    with pytest.raises(BergamotError, match="T296"):
        run(bare, tmp_path, tmp_path / "x.spacy")
