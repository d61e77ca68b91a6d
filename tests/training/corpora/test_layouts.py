"""Released archives of corpora: their folders, names and quirks, with invented content."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from training.__main__ import app
from training.corpora.registry import read_corpus
from training.corpora.schema import Corpus
from training.corpora.splits import select_documents
from training.errors import BergamotError

NOTE = '"{cui}", "{name}", "Sign or Symptom|Finding" ,"DISO"'
SPANISH = "Fiebre y sudor de noche."
RUSSIAN = "Сильный кашель."


def put(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return root


def said(corpus: Corpus) -> list[tuple[Any, ...]]:
    """Mention, gold ids, type and language, in the corpus's order."""
    keys = ("mention", "concepts", "type", "language")
    return [tuple(row[key] for key in keys) for row in corpus.mentions.to_pylist()]


def test_mantra_in_brat_has_ids_for_types_groups_in_notes_and_languages_in_folders(tmp_path: Path):
    lines = "T8\tC0015967 6 12\tFieber\n#8\tAnnotatorNotes T8\t" + NOTE.format(
        cui="C0015967", name="fever"
    )
    shorter = 'T1\tC0010200 0 4\ttoux\n#1\tAnnotatorNotes T1\t"tussis", "Sign or Symptom", "DISO"\n'
    folder = "Medline_EN_DE_ec22-cui-best_man"
    put(
        tmp_path / "Mantra-GSC",
        {
            f"German/{folder}/0001_d1.u1.ann": lines,
            f"German/{folder}/0001_d1.u1.txt": "Hohes Fieber.\n",
            "French/EMEA_ec22-cui-best_man/0001_d1.u1.ann": shorter,
            "French/EMEA_ec22-cui-best_man/0001_d1.u1.txt": "toux\r\n",
        },
    )
    corpus = read_corpus(tmp_path / "Mantra-GSC")
    assert said(corpus) == [
        ("toux", ["C0010200"], "DISO", "FRE"), ("Fieber", ["C0015967"], "DISO", "GER")
    ]  # fmt: skip
    assert corpus.skipped == {}
    alone = read_corpus(tmp_path / "Mantra-GSC/German" / folder)
    assert said(alone) == [("Fieber", ["C0015967"], "DISO", "GER")]


def test_mantra_in_xml_has_its_language_in_the_name_where_it_is_not_inside(tmp_path: Path):
    unit = (
        '<Corpus><document id="d1"><unit id="d1.u1"><text>Fièvre</text>'
        '<e offset="0" len="6" cui="C0015967" grp="DISO">Fièvre</e></unit></document></Corpus>'
    )
    put(tmp_path, {f"GSC-v1.1/{source}_GSC_fr_man.xml": unit for source in ("EMEA", "Patent")})
    corpus = read_corpus(tmp_path)
    assert said(corpus) == [("Fièvre", ["C0015967"], "DISO", "FRE")] * 2


def test_cantemist_comes_with_codes_and_again_without(tmp_path: Path):
    mention = "T1\tMORFOLOGIA_NEOPLASIA 0 9\tCarcinoma\n"
    files = {
        "train-set/cantemist-ner/cc_onco1.ann": mention,
        "train-set/cantemist-norm/cc_onco1.ann": f"{mention}#1\tAnnotatorNotes T1\t8010/3/H\n",
        "dev-set1/cantemist-ner/cc_onco2.ann": mention,
    }
    texts = {name.replace(".ann", ".txt"): "Carcinoma." for name in files}
    put(tmp_path, files | texts | {"train-set/cantemist-coding/train-coding.tsv": "file\tcode\n"})
    corpus = read_corpus(tmp_path, language="es")
    kind = "MORFOLOGIA_NEOPLASIA"
    coded = ("Carcinoma", ["8010/3/H"], kind, "SPA")
    assert said(corpus) == [("Carcinoma", [], kind, "SPA"), coded]
    assert corpus.documents["document"].to_pylist() == [
        "dev-set1/cantemist-ner/cc_onco2", "train-set/cantemist-norm/cc_onco1"
    ]  # fmt: skip
    assert corpus.skipped == {"document that comes again with codes": 1}
    assert said(read_corpus(tmp_path / "train-set/cantemist-norm", language="es")) == [coded]


def test_quaero_and_nerel_bio_in_brat(tmp_path: Path):
    quaero = "T1\tCHEM 0 6\tbêta 2\n#1\tAnnotatorNotes T1\tC0000001 C0000002\n"
    folder = "QUAERO_FrenchMed/corpus/test/MEDLINE"
    put(tmp_path, {f"{folder}/1.ann": quaero, f"{folder}/1.txt": "bêta 2"})
    corpus = read_corpus(tmp_path / folder, language="fr")
    assert said(corpus) == [("bêta 2", ["C0000001", "C0000002"], "CHEM", "FRE")]
    nerel = (
        "T2\tDISO 8 14\tкашель\nR1\tHAS_CAUSE Arg1:T2 Arg2:T2\t\nN2\tReference T2 UMLS:C0010200\t\n"
    )
    put(tmp_path / "brat", {"10000001_ru.ann": nerel, "10000001_ru.txt": RUSSIAN})
    assert said(read_corpus(tmp_path / "brat")) == [("кашель", ["C0010200"], "DISO", "RUS")]


def test_codiesp_has_the_texts_of_its_offsets_beside_their_translations(tmp_path: Path):
    annotations = (
        "S1-1\tDIAGNOSTICO\tr50.9\tfiebre noche\t0 6;18 23\n"
        "S1-1\tPROCEDIMIENTO\tbw40zzz\tnoche sudor\t18 23;9 14\n"
    )
    train = {
        "train/trainX.tsv": annotations, "train/trainD.tsv": "S1-1\tr50.9\n",
        "train/trainP.tsv": "S1-1\tbw40zzz\n", "train/text_files/S1-1.txt": SPANISH,
        "train/text_files_en/S1-1.txt": "Fever and sweat at night.",
    }  # fmt: skip
    dev = {
        "dev/devX.tsv": "S2-1\tDIAGNOSTICO\tr61\tsudor\t9 14\n",
        "dev/text_files/S2-1.txt": SPANISH,
    }
    put(tmp_path, train | dev)
    corpus = read_corpus(tmp_path)
    assert said(corpus) == [
        ("sudor", ["r61"], "DIAGNOSTICO", "SPA"),
        ("fiebre noche", ["r50.9"], "DIAGNOSTICO", "SPA"),
        ("noche sudor", ["bw40zzz"], "PROCEDIMIENTO", "SPA"),
    ]
    assert corpus.skipped == {}
    assert corpus.documents["text"].to_pylist() == [SPANISH, SPANISH]
    assert read_corpus(tmp_path / "train").mentions.num_rows == 2


def test_distemist_has_the_same_mentions_with_codes_and_without(tmp_path: Path):
    bare = "filename\tmark\tlabel\toff0\toff1\tspan"
    row = "es-S1\tT1\tENFERMEDAD\t0\t14\tFiebre y sudor"
    header, composite = f"{bare}\tcode\tsemantic_rel", f"{row}\t386661006+415690000\tCOMPOSITE"
    folder = "subtrack2_linking/distemist_subtrack2_training1_linking"
    put(
        tmp_path / "training",
        {
            "subtrack1_entities/distemist_subtrack1_training_mentions.tsv": f"{bare}\n{row}\n",
            f"{folder}.tsv": f"{header}\n{composite}\n",
            f"{folder}_crossmappings.tsv": f"{header}\tmesh_code\n{composite}\tNone\n",
            "text_files/es-S1.txt": SPANISH,
        },
    )
    corpus = read_corpus(tmp_path / "training")
    assert said(corpus) == [("Fiebre y sudor", ["386661006", "415690000"], "ENFERMEDAD", "SPA")]
    assert corpus.mentions["all_of"].to_pylist() == [True]
    assert corpus.skipped == {
        "table without codes beside others": 1, "the same annotation twice": 1
    }  # fmt: skip
    mentions = read_corpus(tmp_path / "training/subtrack1_entities")
    assert said(mentions) == [("Fiebre y sudor", [], "ENFERMEDAD", "SPA")]


def test_bionne_has_its_languages_in_the_ids_and_its_test_set_without_them(tmp_path: Path):
    header = "document_id\ttext\tentity_type\tspans"
    russian = "10000001_ru\tкашель сильный\tDISO\t8-14,0-7\tCUILESS\n"
    english = "10000001_en\tcough\tDISO\t7-12\tC0010200\n"
    put(
        tmp_path / "data",
        {
            "tsv/bilingual/bionnel_bilingual_dev.tsv": f"{header}\tUMLS_CUI\n{english}{russian}",
            "tsv/ru/bionnel_ru_dev.tsv": f"{header}\tUMLS_CUI\n{russian}",
            "tsv/en/bionnel_en_test.tsv": f"{header}\n10000002_en\tcough\tDISO\t0-5\n",
            "texts/en/dev/10000001_en.txt": "Severe cough.",
            "texts/ru/dev/10000001_ru.txt": RUSSIAN,
        },
    )
    corpus = read_corpus(tmp_path / "data")
    assert said(corpus) == [
        ("cough", ["C0010200"], "DISO", "ENG"), ("кашель сильный", [], "DISO", "RUS")
    ]  # fmt: skip
    assert corpus.documents["language"].to_pylist() == ["ENG", "RUS"]
    assert corpus.skipped == {"the same annotation twice": 1}
    alone = read_corpus(tmp_path / "data/tsv/ru/bionnel_ru_dev.tsv")
    assert said(alone) == [("кашель сильный", [], "DISO", "RUS")]


def pubtator(pmid: int) -> str:
    return (
        f"{pmid}|t|Fever\n{pmid}|a|No cough.\n{pmid}\t0\t5\tFever\tT184,T033\tUMLS:C0015967\n"
        f"{pmid}\t9\t14\tcough\tUnknownType\tC0010200\n\n"
    )


def test_medmentions_comes_in_one_file_with_a_list_of_ids_for_each_split(tmp_path: Path):
    folder = put(
        tmp_path / "full/data",
        {f"corpus_pubtator_pmids_{split}.txt": ids for split, ids in (
            ("all", "101\n102\n103\n"), ("trng", "101\n103\r\n"), ("dev", "999\n"),
            ("test", "102\n998\n"))},
    )  # fmt: skip
    (folder / "corpus_pubtator.txt.gz").write_bytes(
        gzip.compress("".join(map(pubtator, (101, 102, 103))).encode())
    )
    whole = read_corpus(folder)
    assert said(whole)[:2] == [
        ("Fever", ["C0015967"], "T184,T033", "ENG"), ("cough", ["C0010200"], "UnknownType", "ENG")
    ]  # fmt: skip
    train = select_documents(whole, folder / "corpus_pubtator_pmids_trng.txt")
    assert train.documents["document"].to_pylist() == ["101", "103"]
    assert set(train.mentions["document"].to_pylist()) == {"101", "103"}
    with pytest.raises(BergamotError, match=r"\[T130\].*has none of the documents in .*_dev\.txt"):
        select_documents(whole, folder / "corpus_pubtator_pmids_dev.txt")
    ids = folder / "corpus_pubtator_pmids_test.txt"
    result = CliRunner().invoke(
        app, ["corpus", str(folder), str(tmp_path / "test"), "--ids", str(ids)]
    )
    assert result.exit_code == 0, result.output
    assert "2 listed, 1 documents, 1 not in the corpus" in result.output
    again = Corpus.open(tmp_path / "test")
    assert again.documents["document"].to_pylist() == ["102"]
    assert again.mentions.num_rows == 2
    assert again.facts["split"]["file"] == ids.name


def test_a_split_knows_documents_in_folders_by_their_last_name(tmp_path: Path):
    put(tmp_path / "a", {"train/one.ann": "T1\tX 0 1\ta\n", "train/one.txt": "a",
                         "train/two.ann": "T1\tX 0 1\tb\n", "train/two.txt": "b"})  # fmt: skip
    put(tmp_path, {"ids.txt": "two\n"})
    corpus = select_documents(read_corpus(tmp_path / "a"), tmp_path / "ids.txt")
    assert said(corpus) == [("b", [], "X", "ENG")]


def test_cometa_is_a_table_of_pandas_with_its_index_and_quotes(tmp_path: Path):
    header = (
        "\tID\tTerm\tGeneral SNOMED Label\tGeneral SNOMED ID\tSpecific SNOMED Label\t"
        "Specific SNOMED ID\tExample\tExample Link\tOrigin_Sheet\n"
    )
    rest = "Tired\t84229001\tFatigue\t248274002"
    quoted = f'6\t6\ttired\t{rest}\t"They said ""so\n tired""\t."\thttps://x/1\t./a.xlsx\n'
    plain = f"7\t7\tworn out\t{rest}\tI don ' t \" know\thttps://x/2\t./a.xlsx\n"
    path = put(tmp_path, {"zeroshot_general/test.csv": header + quoted + plain + "8\tshort\n"})
    corpus = read_corpus(path)
    assert [row[:2] for row in said(corpus)] == [
        ("tired", ["84229001"]), ("worn out", ["84229001"])
    ]  # fmt: skip
    contexts = corpus.mentions["context"].to_pylist()
    assert contexts == ['They said "so\n tired"\t.', "I don ' t \" know"]
    assert corpus.skipped == {"malformed line": 1}
    put(tmp_path, {"zeroshot_general/test.csv": header + '6\t6\t"' + "x" * 200_000})
    with pytest.raises(BergamotError, match=r"\[B057\].*test\.csv:2: no table"):
        read_corpus(path)


def test_askapatient_and_twadr_have_a_file_a_fold_and_split(tmp_path: Path):
    line = "22298006\tmyocardial infarction\theart attack\n"
    put(tmp_path, {f"{name}.fold-0.{split}.txt": line for name in ("AskAPatient", "TwADR-L")
                   for split in ("train", "validation", "test")})  # fmt: skip
    corpus = read_corpus(tmp_path / "TwADR-L.fold-0.test.txt")
    assert said(corpus) == [("heart attack", ["22298006"], "", "ENG")]
    assert read_corpus(tmp_path).mentions.num_rows == 6


def test_concept_files_made_of_codiesp_and_quaero(tmp_path: Path):
    lines = (
        "N001||0 6;18 23||DIAGNOSTICO||fiebre noche||R50.9||||\n"
        "N002||9|14||DISO||sudor||C0000001 C0000002||||\nN003||9|14||DISO||sudor||C1, C2\n"
    )
    corpus = read_corpus(put(tmp_path, {"1.concept": lines, "1.txt": SPANISH}))
    assert [row[:2] for row in said(corpus)] == [
        ("fiebre noche", ["R50.9"]), ("sudor", ["C0000001", "C0000002"]), ("sudor", ["C1", "C2"])
    ]  # fmt: skip
    assert corpus.mentions["starts"].to_pylist() == [[0, 18], [9], [9]]


def test_bigbio_without_passages_and_with_an_entity_a_semantic_type(tmp_path: Path):
    def entity(kind: str, text: str, offsets: list[list[int]], **code: str) -> dict[str, Any]:
        return {"type": kind, "text": [text], "offsets": offsets, "normalized": [code]}

    fever = {"db_name": "UMLS", "db_id": "C0015967"}
    records = [
        {"document_id": "1", "passages": [{"text": ["Fever"], "offsets": [[0, 5]]}],
         "entities": [entity(kind, "Fever", [[0, 5]], **fever) for kind in ("T184", "T033")]},
        {"document_id": "S1", "passages": [], "entities": [
            entity("DIAGNOSTICO", "fiebre noche", [[0, 6], [18, 23]],
                   db_name="ICD10-CM", db_id="r50.9")]},
    ]  # fmt: skip
    lines = "".join(json.dumps(record) + "\n" for record in records)
    corpus = read_corpus(put(tmp_path, {"kb.jsonl": lines}) / "kb.jsonl")
    assert [row[:3] for row in said(corpus)] == [
        ("Fever", ["C0015967"], "T184,T033"), ("fiebre noche", ["ICD10-CM:r50.9"], "DIAGNOSTICO")
    ]  # fmt: skip
    assert corpus.documents["document"].to_pylist() == ["1"]
    assert corpus.mentions["starts"].to_pylist() == [[0], []]
    assert corpus.skipped == {}
