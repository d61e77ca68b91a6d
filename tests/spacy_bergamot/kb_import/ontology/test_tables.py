"""Tables of one's own: term types, suppressed rows, vocabularies with codes, named relations."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.rrf import COLUMNS
from tests.spacy_bergamot.kb_import.ontology.invented import SYNONYMS, names
from training.__main__ import app


def imported(folder: Path, files: Mapping[str, str]) -> Path:
    """Import files of these names; return the META folder."""
    (folder / "raw").mkdir()
    for name, content in files.items():
        (folder / "raw" / name).write_text(content, "utf8")
    import_ontologies([folder / "raw"], folder / "META")
    return folder / "META"


def rows(meta: Path, table: str, *columns: str) -> list[tuple[str, ...]]:
    """Return columns of a table's rows."""
    places = [COLUMNS[table].split().index(column) for column in columns]
    lines = (meta / f"{table}.RRF").read_text("utf8").splitlines()
    return [tuple(line.split("|")[place] for place in places) for line in lines]


def test_names_have_term_types_and_may_be_suppressed(tmp_path: Path):
    table = (
        "id,name,language,abbreviations,term_type,suppress\n"
        "a1,zeal fever,,ZF|Z.F.,,\n"
        "a1,eager fever,,,SY,N\n"
        "a1,zealitis,,Zt,,Y\n"
        "a1,EF,de,,AB,\n"
    )
    meta = imported(tmp_path, {"own.csv": table})
    assert rows(meta, "MRCONSO", "STR", "LAT", "TTY", "ISPREF", "SUPPRESS") == [
        ("zeal fever", "ENG", "PT", "Y", "N"),
        ("ZF", "ENG", "AB", "N", "N"),
        ("Z.F.", "ENG", "AB", "N", "N"),
        ("eager fever", "ENG", "SY", "N", "N"),
        ("zealitis", "ENG", "PT", "Y", "Y"),
        ("Zt", "ENG", "AB", "N", "Y"),
        ("EF", "GER", "AB", "N", "N"),
    ]
    build_concept_table(meta, tmp_path / "kb", filters=Filters(), max_malformed=0)
    kb = ConceptTable.open(tmp_path / "kb")
    assert sorted(kb["a1"].aliases) == ["EF", "Z.F.", "ZF", "eager fever", "zeal fever"]


def test_exclusive_names_are_kept_from_other_concepts_in_their_language(tmp_path: Path):
    """What a translation gives to another concept is suppressed; it is so in no other language."""
    table = (
        "id,name,language,synonyms,exclusive\n"
        "a1,zeal fever,,,\n"
        "a1,Eiferfieber,de,Zelose|Zelosis,yes\n"
        "a2,zealosis,,,\n"
        "a2,zelose,de,,\n"
        "a2,Zelose,fr,,\n"
        "a3,Zelosis,de,,yes\n"
    )
    meta = imported(tmp_path, {"own.csv": table})
    german = rows(meta, "MRCONSO", "LAT", "CUI", "STR", "SUPPRESS")
    assert [row[1:] for row in german if row[0] == "GER"] == [
        ("a1", "Eiferfieber", "N"),
        ("a1", "Zelose", "N"),
        ("a1", "Zelosis", "N"),
        ("a2", "zelose", "Y"),
        ("a3", "Zelosis", "N"),
    ]
    assert ("FRE", "a2", "Zelose", "N") in german


def test_a_suppressed_name_comes_back_nowhere(tmp_path: Path):
    table = "id,name,suppress,xrefs\na1,zealitis,yes,MESH:D1\na1,zeal fever,,\n"
    meta = imported(tmp_path, {"own.csv": table})
    assert rows(meta, "MRCONSO", "STR", "TTY", "CODE", "SUPPRESS") == [
        ("zealitis", "PT", "a1", "Y"),
        ("zeal fever", "PT", "a1", "N"),
        ("zeal fever", "XR", "MESH:D1", "N"),
    ]


def test_json_lines_say_the_same_by_lists_and_truth_values(tmp_path: Path):
    lines = [
        {"id": "a1", "name": "zeal fever", "abbreviations": ["ZF"], "suppressed": False},
        {"id": "a1", "name": "zealitis", "tty": "SY", "suppressed": True},
    ]
    meta = imported(tmp_path, {"own.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})
    assert rows(meta, "MRCONSO", "STR", "TTY", "SUPPRESS") == [
        ("zeal fever", "PT", "N"), ("ZF", "AB", "N"), ("zealitis", "SY", "Y"),
    ]  # fmt: skip


def test_a_plain_id_belongs_to_the_vocabulary_that_a_row_of_it_says(tmp_path: Path):
    files = {
        "concepts.csv": "id,name,source,code,definition,parents\n"
        "C9000001,zeal fever,hosp,4711,A fever.,C9000002\nC9000002,fever,,,,\n",
        "names.tsv": "id\tlanguage\tname\nC9000001\tde\tEiferfieber\n",
        "sources.csv": "source,version,licence\nHOSP,7,CC0\nlocal,8,\n",
    }
    meta = imported(tmp_path, files)
    assert rows(meta, "MRCONSO", "CUI", "SAB", "CODE", "STR") == [
        ("C9000001", "HOSP", "4711", "zeal fever"),
        ("C9000002", "LOCAL", "C9000002", "fever"),
        ("C9000001", "HOSPGER", "4711", "Eiferfieber"),
    ]
    assert rows(meta, "MRDEF", "SAB") == [("HOSP",)]
    assert set(rows(meta, "MRREL", "SAB")) == {("HOSP",)}
    assert rows(meta, "MRSAB", "RSAB", "SVER") == [("HOSP", "7"), ("LOCAL", "8")]
    assert "HOSP\t7\tCC0" in (meta / "MRSAB.tsv").read_text("utf8")


def test_relations_of_plain_ids_go_by_the_names_of_a_table(tmp_path: Path):
    files = {
        "own.csv": "id,name\na1,zeal fever\na2,zeal gland\nZO:3,zealol\n",
        "edges.csv": "subject,predicate,object\na1,site,a2\nZO:3,may treat,a1\nZO:3,near,a2\n"
        "a1,is_a,a2\na1,site,a 2\n,site,a2\n",
        "relations.csv": "predicate,rel,rela,inverse\nsite,,has_finding_site,finding_site_of\n"
        "near,RN,,\nmay treat,,may_treat,may_be_treated_by\n,RO,x,y\n",
    }
    meta = imported(tmp_path, files)
    # CUI2 stands in the relation RELA to CUI1.
    assert set(rows(meta, "MRREL", "CUI2", "REL", "RELA", "CUI1")) == {
        ("a1", "RO", "has_finding_site", "a2"), ("a2", "RO", "finding_site_of", "a1"),
        ("ZO:3", "RO", "may_treat", "a1"), ("a1", "RO", "may_be_treated_by", "ZO:3"),
        ("ZO:3", "RN", "", "a2"), ("a2", "RB", "", "ZO:3"),
        ("a1", "CHD", "isa", "a2"), ("a2", "PAR", "inverse_isa", "a1"),
    }  # fmt: skip
    skipped = json.loads((meta / "manifest.json").read_text("utf8"))["skipped"]
    assert skipped["malformed rows"] == 3


def test_types_have_their_names_in_the_semantic_network(tmp_path: Path):
    meta = imported(tmp_path, {"own.csv": "id,name,type\na1,zeal fever,T047|T184|T999\n"})
    assert rows(meta, "MRSTY", "TUI", "STN", "STY") == [
        ("T047", "B2.2.1.2.1", "Disease or Syndrome"),
        ("T184", "A2.2.2", "Sign or Symptom"),
        ("T999", "", ""),
    ]


@pytest.mark.parametrize("column", ["source", "code", "type", "term_type"])
def test_a_value_that_rrf_cannot_hold_is_no_row(tmp_path: Path, column: str):
    table = f'id,name,{column}\na1,zeal,"x\ny"\na2,zest,x\n'
    meta = imported(tmp_path, {"own.csv": table})
    assert [cui for (cui,) in rows(meta, "MRCONSO", "CUI")] == ["a2"]


def test_a_table_of_ones_own(tmp_path: Path):
    (tmp_path / "own.csv").write_text(
        "id,name,language,synonyms,type,parents,definition\n"
        'a1,"Zeal, acute",en,brisk zeal|quick zeal,T047,,"About ""zeal"""\n'
        "a2,Eifer,de,,T047,a1,\n"
        ",nameless,,,,,\n",
        "utf8",
    )
    concept = {"concept_id": "C9000005", "canonical_name": "zest", "aliases": ["gusto"]}
    with zipfile.ZipFile(tmp_path / "own.zip", "w") as archive:
        archive.writestr("kb.jsonl", json.dumps({**concept, "types": ["T033"]}) + "\n[1]\n")
    out = tmp_path / "META"
    result = CliRunner().invoke(
        app, ["import", str(tmp_path / "own.csv"), str(tmp_path / "own.zip"), "-o", str(out)]
    )
    assert result.exit_code == 0, result.output
    build_concept_table(out, tmp_path / "kb", filters=Filters(), max_malformed=0)
    table = ConceptTable.open(tmp_path / "kb")
    assert names(table) == {
        "a1": {("ENG", "Zeal, acute"), ("ENG", "brisk zeal"), ("ENG", "quick zeal")},
        "a2": {("GER", "Eifer")},
        "C9000005": {("ENG", "zest"), ("ENG", "gusto")},
    }
    assert table.relations.num_rows == 2


def test_a_synonyms_table_says_its_own_language(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "a.tsv").write_text(SYNONYMS, "utf8")
    rows = [line for line in SYNONYMS.splitlines() if not line.startswith("ID")]
    (tmp_path / "b.tsv").write_text("\n".join(rows), "utf8")
    import_ontologies([tmp_path], tmp_path / "META")
    assert "b.tsv:2" in caplog.text


def test_a_table_separated_by_semicolons_is_read(tmp_path: Path):
    (tmp_path / "a.csv").write_text('id;name;synonyms\nx;"zeal; acute";zest, keen\n', "utf8")
    import_ontologies([tmp_path], tmp_path / "out/META")
    conso = (tmp_path / "out/META/MRCONSO.RRF").read_text("utf8")
    assert "|zeal; acute|" in conso
    assert "|zest, keen|" in conso
