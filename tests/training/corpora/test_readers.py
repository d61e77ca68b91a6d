"""Small invented corpora in every format, sound and broken."""

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.training.corpora.written import BRAT_TEXT, PUBTATOR, golds, rows, write
from training.corpora.registry import read_corpus
from training.corpora.schema import Corpus
from training.errors import BergamotError

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("BERGAMOT_SHARED", ROOT.parent / "shared"))
MANTRA = """<?xml version="1.0" encoding="UTF-8"?>
<Corpus id="x" lang="de" docType="Medline"><document id="d1">
<unit id="d1.u1"><text>Akuter Herzinfarkt &amp; Fieber.</text>
<e id="e1" offset="7" len="11" cui="C0027051" grp="DISO" type="T047">Herzinfarkt</e>
<e id="e2" offset="21" len="6" cui="C0015967" grp="DISO">Fieber</e>
<e id="e3" offset="22" len="6" cui="C0015967" grp="DISO">Fieber</e>
<e id="e4" offset="x" len="6" cui="C0015967" grp="DISO">Fieber</e></unit>
<unit id="d1.u1"><text>Akuter Herzinfarkt &amp; Fieber.</text></unit></document></Corpus>
"""
BRAT = """T1\tDISO 0 5;16 24\tfever of night
T2\tDISO 0 24\tfever and sweat of night
#1\tAnnotatorNotes T1\tC0015967 C0424755
N1\tReference T2 UMLS:C0000001\tname
N2\tReference T2 MSH:D1\tname
T3\tDISO 10 15\tsweat
#2\tAnnotatorNotes T3\tcheck this
T4\tDISO 10 14\tsweat
T5 broken
R1\tHas Arg1:T1 Arg2:T2
#3\tAnnotatorNotes T99\tC0000002
"""
CODIESP = (
    "S1\tDIAGNOSTICO\tr50.9\tfiebre noche\t0 6;19 24\nS1\tDIAGNOSTICO\tr61\tsudor\t9 14\n"
    "S2\tPROCEDIMIENTO\tx\tno hay\t0 3\nS1\tDIAGNOSTICO\tr61\tsudor\n"
)
DISTEMIST = (
    "filename\tmark\tlabel\toff0\toff1\tspan\tcode\tsemantic_rel\n"
    "S1\tT1\tENFERMEDAD\t0\t6\tfiebre\t386661006+1\tEXACT+EXACT\n"
    "S1\tT2\tENFERMEDAD\t9\t14\tsudor\tNOCODE\tEXACT\n"
)
BIONNE = (
    "document_id\ttext\tentity_type\tspans\tUMLS_CUI\n"
    "S1\tfiebre noche\tDISO\t0-6,19-24\tC0015967\nS1\tsudor\tDISO\t9-14\tCUILESS\n"
)
TEXT = "Fiebre y sudor de  noche."
BIGBIO = {
    "id": "1", "document_id": "7",
    "passages": [{"type": "title", "text": ["Fever."], "offsets": [[0, 6]]},
                 {"type": "abstract", "text": ["No cough."], "offsets": [[7, 16]]}],
    "entities": [
        {"id": "a", "type": "Sign", "text": ["cough"], "offsets": [[10, 15]],
         "normalized": [{"db_name": "MESH", "db_id": "D003371"},
                        {"db_name": "UMLS", "db_id": "C0010200"}]},
        {"id": "b", "type": "Sign", "text": ["Fever"], "offsets": [[0, 5]], "normalized": []}],
}  # fmt: skip


def test_mantra(tmp_path: Path):
    corpus = read_corpus(write(tmp_path / "Medline_GSC_de_man.xml", MANTRA))
    assert golds(corpus) == [
        ("Herzinfarkt", ["C0027051"], False), ("Fieber", ["C0015967"], False)
    ]  # fmt: skip
    assert rows(corpus)[0]["id"] == "Medline_GSC_de_man/d1.u1#1"
    assert (rows(corpus)[0]["language"], rows(corpus)[0]["type"]) == ("GER", "DISO")
    assert corpus.skipped == {
        "offsets disagree with the text": 1, "malformed annotation": 1, "document twice": 1
    }  # fmt: skip


MARKED = (
    "GER\tKein [Fieber|C0015967], [Schmerzen im Unterbauch|lower abdominal pain|abdominal pain].\n"
    "fr\tPas\\nde fièvre.\n"
    "Klingon\tNo [fever|fever].\n"
    "ENG\tA list [sic] and [fever|fever].\n"
    "RUS\t[Анизокория|NIL] слева.\n"
    "ENG\tOn [metformin|CHEM|metformin], [Hb|PROC].\n"
)


def test_marked_texts(tmp_path: Path):
    corpus = read_corpus(write(tmp_path / "notes.tsv", MARKED))
    assert golds(corpus) == [
        ("Fieber", ["C0015967"], False),
        ("Schmerzen im Unterbauch", ["lower abdominal pain", "abdominal pain"], False),
        ("Анизокория", [], False),
        ("metformin", ["metformin"], False),
        ("Hb", [], False),
    ]
    assert [row["type"] for row in rows(corpus)] == ["", "", "", "CHEM", "PROC"]
    documents = corpus.documents.to_pylist()
    assert [(one["document"], one["language"]) for one in documents] == [
        ("notes-1", "GER"), ("notes-2", "FRE"), ("notes-5", "RUS"), ("notes-6", "ENG")
    ]  # fmt: skip
    assert documents[0]["text"] == "Kein Fieber, Schmerzen im Unterbauch."
    assert documents[1]["text"] == "Pas\nde fièvre."
    assert corpus.skipped == {
        "line without language and tab": 1, "line with a bracket that is no mark": 1
    }  # fmt: skip


def test_mantra_that_is_no_xml_names_the_line(tmp_path: Path):
    path = write(tmp_path / "a.xml", MANTRA.replace("</text>", "", 1))
    with pytest.raises(BergamotError, match=r"\[B057\].*a\.xml:\d+: no XML"):
        read_corpus(path)


@pytest.mark.parametrize("packed", [False, True])
def test_pubtator_with_composites_wrong_offsets_and_duplicates(tmp_path: Path, packed: bool):
    data = PUBTATOR.encode()
    name = "c.txt.gz" if packed else "c.PubTator"
    corpus = read_corpus(write(tmp_path / name, gzip.compress(data) if packed else data))
    assert golds(corpus) == [
        ("Breast and ovarian cancer", ["D001943", "D010051"], True),
        ("Breast", ["C0006141"], False),
        ("fever", [], False),
        ("HBOC", ["D1", "D2"], True),
        ("Fever and cough", ["D5", "D6"], True),
    ]
    assert rows(corpus)[0]["language"] == "ENG"
    assert corpus.skipped == {
        "offsets disagree with the text": 1, "offsets outside the text": 1, "relation": 1,
        "the same annotation twice": 1, "malformed line": 1, "annotation without its text": 1,
        "document twice, with another text": 1,
    }  # fmt: skip


def test_brat_with_discontinuous_and_nested_mentions(tmp_path: Path):
    write(tmp_path / "train/one.ann", BRAT)
    write(tmp_path / "train/one.txt", BRAT_TEXT)
    write(tmp_path / "train/two.ann", "T1\tDISO 0 5\tfever\n")
    write(tmp_path / "train/code.ann", "T1\tMORF 0 2\tCa\n#1\tAnnotatorNotes T1\t8000/6\n")
    write(tmp_path / "train/code.txt", "Ca.")
    corpus = read_corpus(tmp_path, language="fr")
    assert golds(corpus) == [
        ("Ca", ["8000/6"], False),
        ("fever of night", ["C0015967", "C0424755"], False),
        ("fever and sweat of night", ["C0000001", "MSH:D1"], False),
        ("sweat", [], False),
    ]
    row = rows(corpus)[1]
    assert (row["document"], row["language"]) == ("train/one", "FRE")
    assert (row["starts"], row["ends"]) == ([0, 16], [5, 24])
    assert corpus.skipped == {
        "annotations without their text file": 1, "annotation without its text": 1,
        "note without an id": 1, "malformed line": 1, "relation, event or attribute": 1,
        "offsets disagree with the text": 1, "id of a mention that is not there": 1,
    }  # fmt: skip


def test_concept_folders(tmp_path: Path):
    lines = (
        "9||0|6||Disease||fiebre||C1|C2||||\n9||9|14||CompositeMention||sudor||D1|D2\n"
        "9||0|6||Disease||fiebre||D1+D2\n9||0|6||Disease||fiebre||CUI-less\n9||0|6||x\n"
    )
    corpus = read_corpus(write(tmp_path / "9.concept", lines).parent)
    assert golds(corpus) == [
        ("fiebre", ["C1", "C2"], False), ("sudor", ["D1", "D2"], True),
        ("fiebre", ["D1", "D2"], True), ("fiebre", [], False),
    ]  # fmt: skip
    assert rows(corpus)[0]["starts"] == []
    assert corpus.skipped == {"malformed line": 1}
    write(tmp_path / "9.txt", TEXT)
    assert rows(read_corpus(tmp_path))[0]["starts"] == [0]


def test_xlbel_of_both_versions(tmp_path: Path):
    write(tmp_path / "v0/de_1k_test_query.txt", "C1|C2||Fieber\nC3||\n||x\n")
    context = "C1||Fieber||hohes <tgt>Fieber</tgt> || seit gestern\n"
    write(tmp_path / "v1/ja_1k_test_query_with_context.txt", context)
    old, new = read_corpus(tmp_path / "v0"), read_corpus(tmp_path / "v1")
    assert golds(old) == [("Fieber", ["C1", "C2"], False)]
    assert old.skipped == {"empty mention": 1, "malformed line": 1}
    assert [old.mentions["language"][0].as_py(), new.mentions["language"][0].as_py()] == [
        "GER", "JPN"
    ]  # fmt: skip
    assert new.mentions["context"][0].as_py() == "hohes Fieber || seit gestern"


def test_cometa_general_and_specific(tmp_path: Path):
    table = (
        "ID\tTerm\tGeneral SNOMED ID\tSpecific SNOMED ID\tExample\n"
        "0\ttired\t84229001\t248274002\tI am so tired.\n1\tshort\n"
    )
    path = write(tmp_path / "test.csv", table)
    assert golds(read_corpus(path)) == [("tired", ["84229001"], False)]
    corpus = read_corpus(path, "cometa-specific")
    assert golds(corpus) == [("tired", ["248274002"], False)]
    assert corpus.mentions["context"][0].as_py() == "I am so tired."
    assert corpus.skipped == {"malformed line": 1}


def test_askapatient_in_its_old_encoding(tmp_path: Path):
    lines = "22298006\tMyocardial infarction\theart attack caf\xe9\nx\n".encode("latin-1")
    corpus = read_corpus(write(tmp_path / "AskAPatient.fold-0.test.txt", lines))
    assert golds(corpus) == [("heart attack café", ["22298006"], False)]
    assert corpus.skipped == {"malformed line": 1}


@pytest.mark.parametrize(
    ("name", "table", "expected"),
    [
        ("testX.tsv", CODIESP, [("fiebre noche", ["r50.9"], False), ("sudor", ["r61"], False)]),
        ("d.tsv", DISTEMIST, [("fiebre", ["386661006", "1"], True), ("sudor", [], False)]),
        ("b.tsv", BIONNE, [("fiebre noche", ["C0015967"], False), ("sudor", [], False)]),
    ],
)
def test_tables_of_spans_beside_texts(tmp_path: Path, name: str, table: str, expected: list):
    path = write(tmp_path / name, table)
    alone = read_corpus(path)
    assert golds(alone)[:2] == expected
    assert all(row["starts"] == [] for row in rows(alone))
    write(tmp_path / "text_files/S1.txt", TEXT)
    corpus = read_corpus(tmp_path)
    assert golds(corpus) == expected
    assert all(row["starts"] for row in rows(corpus))
    codiesp = {"annotation without its text file": 1, "malformed line": 1}
    assert corpus.skipped == (codiesp if name == "testX.tsv" else {})
    assert rows(corpus)[0]["language"] == ("ENG" if name == "b.tsv" else "SPA")


def test_bionne_as_json(tmp_path: Path):
    keys, *lines = [line.split("\t") for line in BIONNE.splitlines()]
    records = [dict(zip(keys, line, strict=True)) for line in lines]
    corpus = read_corpus(write(tmp_path / "dev.json", json.dumps(records)))
    assert golds(corpus)[0] == ("fiebre noche", ["C0015967"], False)
    del records[1]["spans"]
    with pytest.raises(BergamotError, match=r"\[T128\].*dev\.json has no column spans"):
        read_corpus(write(tmp_path / "dev.json", json.dumps(records)))


def test_bigbio_records(tmp_path: Path):
    broken = {"document_id": "8", "passages": [], "entities": [{"text": ["x"]}]}
    lines = f"{json.dumps(BIGBIO)}\n{json.dumps(broken)}\n"
    corpus = read_corpus(write(tmp_path / "kb.jsonl", lines))
    assert golds(corpus) == [
        ("cough", ["MESH:D003371", "C0010200"], False), ("Fever", [], False)
    ]  # fmt: skip
    assert corpus.documents["text"][0].as_py() == "Fever. No cough."
    assert corpus.skipped == {"malformed record (KeyError)": 1}


def test_a_corpus_is_written_and_opened(tmp_path: Path):
    corpus = read_corpus(write(tmp_path / "c.txt", PUBTATOR))
    corpus.write(tmp_path / "out")
    again = Corpus.open(tmp_path / "out")
    assert again.mentions.equals(corpus.mentions)
    assert again.documents.equals(corpus.documents)
    assert (again.skipped, again.name) == (corpus.skipped, "c")
    (tmp_path / "out/mentions.arrow").write_bytes(b"x")
    with pytest.raises(BergamotError, match=r"\[B006\]"):
        Corpus.open(tmp_path / "out")


@pytest.mark.skipif(not (SHARED / "data/raw").is_dir(), reason=f"no open data at {SHARED}")
def test_published_corpora():
    raw = SHARED / "data/raw"
    for version in ("xlbel_v0.0", "xlbel_v1.0"):
        corpus = read_corpus(raw / "xl_bel" / version)
        assert corpus.mentions.num_rows == 10_000
        assert corpus.skipped == {}
        assert len(set(corpus.mentions["language"].to_pylist())) == 10
        assert all(corpus.mentions["context"].to_pylist()) == (version == "xlbel_v1.0")
        golds = corpus.mentions["concepts"].to_pylist()
        assert all(golds)
        assert sum(len(ids) > 1 for ids in golds) == 843 or version != "xlbel_v0.0"
    train = read_corpus(raw / "corpora/ncbi-disease/NCBItrainset_corpus.txt.gz")
    assert (train.documents.num_rows, train.mentions.num_rows) == (592, 5134)
    assert train.skipped == {"document twice": 1, "the same annotation twice": 11}
    rows(train)
