"""Gold ids of other vocabularies and retired CUIs, mapped to a small invented table."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import SCHEMAS
from spacy_bergamot.pipeline.build import write_names
from training.__main__ import app
from training.corpora.builder import CorpusBuilder
from training.corpora.mapping import map_concepts
from training.corpora.schema import Corpus

CODES = [
    (0, "MSH", "D000001"), (1, "MSHSPA", "D000001"), (1, "HPO", "HP:0001250"),
    (2, "SNOMEDCT_US", "386661006"), (2, "MDR", "10037660"), (3, "SNOMEDCT_US", "10037660"),
    (3, "ICD10CM", "R50.9"), (3, "OMIM", "100050"),
]  # fmt: skip
MRCUI = """C0000011|2000AA|SY|||C0000012|N|
C0000012|2005AA|RB|||C0000003|Y|
C0000012|2005AA|SY|||C0000002|Y|
C0000021|2000AA|RO|||C0000001|Y|
C0000031|2000AA|DEL||||
C0000041|2000AA|SY|||C0000042|N|
C0000042|2000AA|SY|||C0000041|N|
"""


def table_of(
    path: Path,
    names: dict[str, list[str]],
    codes: list[tuple],
    called: dict[str, str] | None = None,
) -> ConceptTable:
    """Write a concept table of English names, and of codes by the row of their concept.

    called: What concepts are called that are not called as their first name.
    """
    aliases = [
        (row, name, "ENG", "S", "SY") for row, of in enumerate(names.values()) for name in of
    ]
    columns = {
        "concepts": (
            [*names],
            [(called or {}).get(one, of[0]) for one, of in names.items()],
            [None] * len(names),
        ),
        "aliases": tuple(zip(*aliases, strict=True)),
        "types": ([], [], []),
        "codes": tuple(zip(*codes, strict=True)),
        "relations": ([], [], [], [], []),
    }
    tables = {
        name: pa.table(
            [pa.array(column).cast(field.type)
             for column, field in zip(columns[name], schema, strict=True)], schema=schema
        )
        for name, schema in SCHEMAS.items()
    }  # fmt: skip
    ConceptTable.write(path, tables, release=[])
    return ConceptTable.open(path)


@pytest.fixture
def table(tmp_path: Path) -> ConceptTable:
    return table_of(tmp_path / "kb", {f"C000000{i}": [f"name C000000{i}"] for i in range(4)}, CODES)


def corpus_of(*ids: list[str], all_of: bool = False) -> Corpus:
    builder = CorpusBuilder("test", "ENG")
    for each in ids:
        builder.mention("d", "x", each, place="here", all_of=all_of)
    return builder.build()


def mapped(corpus: Corpus, table: ConceptTable, **settings) -> list[list[str]]:
    result, _ = map_concepts(corpus, table, **settings)
    return result.mentions["concepts"].to_pylist()


def test_codes_with_and_without_prefixes(table: ConceptTable):
    corpus = corpus_of(
        ["C0000003"], ["MESH:D000001"], ["HP:0001250"], ["SNOMEDCT:386661006"], ["386661006"],
        ["r50.9"], ["ICD10:R50.9"], ["OMIM:100050"], ["D999999"], [],
    )  # fmt: skip
    result, counts = map_concepts(corpus, table)
    assert result.mentions["concepts"].to_pylist() == [
        ["C0000003"], ["C0000000", "C0000001"], ["C0000001"], ["C0000002"], ["C0000002"],
        ["C0000003"], ["C0000003"], ["C0000003"], ["D999999"], [],
    ]  # fmt: skip
    assert counts == {"already concepts": 1, "mapped by code": 7, "unmapped": 1}
    assert result.facts["mapping"] == counts
    assert corpus.mentions["concepts"].to_pylist()[1] == ["MESH:D000001"]


def test_the_names_that_bigbio_has_for_vocabularies(table: ConceptTable):
    corpus = corpus_of(
        ["ICD10-CM:r50.9"],
        ["SNOMED-CT|AMT:386661006"],
        ["SNOMED_CT:386661006"],
        ["ICD10-PCS:R50.9"],
    )
    assert mapped(corpus, table) == [
        ["C0000003"], ["C0000002"], ["C0000002"], ["ICD10-PCS:R50.9"]
    ]  # fmt: skip


def test_a_code_of_two_vocabularies_needs_the_vocabulary(table: ConceptTable):
    corpus = corpus_of(["10037660"])
    result, counts = map_concepts(corpus, table)
    assert result.mentions["concepts"].to_pylist() == [["10037660"]]
    assert counts == {"ambiguous, left": 1}
    assert mapped(corpus, table, vocabulary="MDR") == [["C0000002"]]
    assert mapped(corpus, table, vocabulary="SNOMEDCT_US") == [["C0000003"]]


def test_english_names_are_ids_too(table: ConceptTable):
    corpus = corpus_of(["Name  C0000002"], ["name C0000009"], ["C0000001", "name c0000001"])
    result, counts = map_concepts(corpus, table)
    assert result.mentions["concepts"].to_pylist() == [
        ["C0000002"], ["name C0000009"], ["C0000001"]
    ]  # fmt: skip
    assert counts == {"already concepts": 1, "mapped by name": 2, "unmapped": 1}


def test_a_name_means_the_concepts_that_are_called_so(tmp_path: Path):
    aliases = {"C1": ["fever"], "C2": ["heat", "fever"], "C3": ["heat"], "C4": ["Fever"]}
    write_names(tmp_path / "kb", aliases, language="ENG")
    table = ConceptTable.open(tmp_path / "kb")
    assert mapped(corpus_of(["fever"], ["heat"]), table) == [["C1", "C4"], ["C2", "C3"]]


def test_a_word_is_a_name_before_it_is_a_code(tmp_path: Path):
    names = {"C1": ["hip"], "C2": ["hippocampus"], "C3": ["heart"]}
    codes = [(1, "DHBA", "HIP"), (1, "EV", "Heart"), (2, "AEO", "Heart")]
    table = table_of(tmp_path / "kb", names, codes)
    assert mapped(corpus_of(["hip"], ["heart"], ["DHBA:HIP"]), table) == [["C1"], ["C3"], ["C2"]]


def test_a_name_may_be_folded(tmp_path: Path):
    aliases = {"C1": ["knee osteoarthritis"], "C2": ["pain, leg"], "C3": ["leg pains"]}
    write_names(tmp_path / "kb", aliases, language="ENG")
    table = ConceptTable.open(tmp_path / "kb")
    corpus = corpus_of(["osteoarthritis of the knees"], ["pain in the leg"], ["D999999"])
    assert mapped(corpus, table) == [["C1"], ["pain in the leg"], ["D999999"]]


def test_what_a_concept_is_called_counts_where_it_is_a_name_of_it(tmp_path: Path):
    names = {"C1": ["urinary bladder"], "C2": ["bladder organ"]}
    called = {"C1": "bladder", "C2": "urinary bladder"}  # suppressed of the second
    table = table_of(tmp_path / "kb", names, CODES[:2], called)
    assert mapped(corpus_of(["urinary bladder"]), table) == [["C1"]]


def test_a_composite_keeps_its_number_of_parts(table: ConceptTable):
    corpus = corpus_of(["MESH:D000001", "OMIM:100050"], all_of=True)
    assert mapped(corpus, table) == [["C0000000", "C0000003"]]


def test_codes_of_a_file(table: ConceptTable, tmp_path: Path):
    (tmp_path / "codes.tsv").write_text("MESH:C536436\tC0000002\nMESH:C1\tC7777777\n")
    corpus = corpus_of(["C536436"], ["MESH:C1"])
    assert mapped(corpus, table, codes=tmp_path / "codes.tsv") == [["C0000002"], ["MESH:C1"]]


@pytest.mark.parametrize("packed", [False, True])
def test_retired_cuis_follow_chains_and_end_in_cycles(
    table: ConceptTable, tmp_path: Path, packed: bool
):
    path = tmp_path / ("MRCUI.RRF.gz" if packed else "MRCUI.RRF")
    path.write_bytes(gzip.compress(MRCUI.encode()) if packed else MRCUI.encode())
    corpus = corpus_of(["C0000011"], ["C0000021"], ["C0000031"], ["C0000041"], ["C0000051"])
    result, counts = map_concepts(corpus, table, mrcui=path)
    assert result.mentions["concepts"].to_pylist() == [
        ["C0000002"], ["C0000021"], ["C0000031"], ["C0000041"], ["C0000051"]
    ]  # fmt: skip
    assert counts == {"retired, mapped": 1, "retired, not in the table": 3, "unmapped": 1}
    assert mapped(corpus, table, mrcui=path, related=True)[1] == ["C0000001"]


def test_the_command_writes_reports_and_exports(table: ConceptTable, tmp_path: Path):
    import spacy
    from spacy.tokens import DocBin

    text = "Fever and night sweats of two weeks."
    entities = [
        {"start": 0, "end": 5, "concept_id": "MESH:D000001", "label": "SIGN"},
        {"start": 10, "end": 22, "concept_id": "C0000002"},
        {"start": 16, "end": 21, "concept_id": "NIL", "label": "SIGN"},
    ]
    records = [
        {"id": f"d{n}", "language": "en", "text": text, "entities": entities} for n in range(20)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "gold.jsonl").write_text(lines)
    arguments = [
        "corpus", str(tmp_path / "gold.jsonl"), str(tmp_path / "out"),
        "--concepts", str(tmp_path / "kb"), "--spacy", str(tmp_path / "train.spacy"),
        "--spacy-dev", str(tmp_path / "dev.spacy"), "--dev-share", "0.3",
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "60 (60 ENG)" in result.stdout
    assert "20 mapped by code, 20 already concepts" in result.stdout
    assert "20 widened to whole tokens" in result.stdout
    assert "20 overlapping, no entities" in result.stdout
    assert Corpus.open(tmp_path / "out").mentions.num_rows == 60
    vocab = spacy.blank("xx").vocab
    train, dev = (
        list(DocBin().from_disk(tmp_path / name).get_docs(vocab))
        for name in ("train.spacy", "dev.spacy")
    )
    assert len(train) + len(dev) == 20
    assert 2 <= len(dev) <= 10
    doc = train[0]
    assert [(e.text, e.label_, e.kb_id_) for e in doc.ents] == [
        ("Fever", "SIGN", "C0000000|C0000001"), ("night sweats", "MENTION", "C0000002")
    ]  # fmt: skip
    assert [(s.text, s.kb_id_) for s in doc.spans["gold"]][2] == ("sweats", "NIL")
    assert all(token.ent_iob_ for token in doc)
