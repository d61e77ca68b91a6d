"""Invented classifications in their publishers' forms: text files, ClaML and ATC's table."""

import zipfile
from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.build import table_of
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from training.errors import BergamotError

ICD_GM = {
    "icd10gm2031syst_kodes.txt": "3;N;X;02;C00;C90.-;C90;C90;Eiferkrebs;Eiferkrebs;;;V\n"
    "4;N;X;02;C00;C90.0-;C90.0;C900;Eiferkrebs der Lippe;Eiferkrebs;der Lippe;;V\n"
    "5;T;S;02;C00;C90.01;C90.01;C9001;Eiferkrebs der Lippe [EKL]: Rezidiv;;;;V\n"
    "3;T;X;04;E00;E05.-;E05;E05;Eiferdrüse [Zeldrüse];;;;V\n"
    "this is no row\n",
    "icd10gm2031syst_gruppen.txt": "C00;C97;02;Bösartige Eifersachen\n"
    "C81;C96;02;Eifer des Blutes\nE00;E07;04;Drüsen\n",
    "icd10gm2031syst_kapitel.txt": "02;Eifrige Neubildungen\n04;Drüsen und Eifer\n",
    "icd10gm2031alpha_edvtxt_20300901.txt": "1|123|1|C90.0-|||Lippeneifer - s.a. Mundeifer\n"
    "1|124|1|C90.01+|M90.7*||Wiederkehrender Eifer [WEL]\n1|125|1||||Ohne Kode\n",
}
OPS = {
    "ops2031syst_kodes.txt": "4;N;X;5;5-01;5-010.-;5-010;5010;Eifern am Kopf;;;;\n"
    "5;T;X;5;5-01;5-010.0;5-010.0;50100;Eifern am Kopf: Offen;;;;\n"
    "6;T;X;5;5-01;5-010.0x;5-010.0x;50100x;Eifern am Kopf: Offen: Sonstige;;;;\n",
    "ops2031syst_gruppen.txt": "5-01;5-05;5;Eifern am Nervensystem\n",
    "ops2031syst_dreisteller.txt": "5;5-01;5-01;Eifern am Schädel\n",
    "ops2031syst_kapitel.txt": "5;Eifrige Operationen\n",
}
ATC = (
    "atc_code,atc_name,ddd\nA,METABOLISM OF ZEAL,NA\nA10,ZEAL LOWERING,NA\nA10B,ORAL ZEAL,NA\n"
    "A10BA,Zealides,NA\nA10BA02,zealformin,2\nA10BA02,zealformin,1\nA1,wrong,NA\n"
)
CLAML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE ClaML SYSTEM "ClaML.dtd">
<ClaML version="2.0.0">
<Title name="ICD-10-GM" version="2031" date="2030-09-15">Zeal, German Modification</Title>
<Modifier code="E10_4"><SubClass code=".0"/></Modifier>
<ModifierClass modifier="E10_4" code=".0"><SuperClass code="E10_4"/>
  <Rubric kind="preferred"><Label xml:lang="de">Mit Koma</Label></Rubric></ModifierClass>
<ModifierClass modifier="E10_4" code=".1"><SuperClass code="E10_4"/>
  <Rubric kind="preferred"><Label xml:lang="de">Ohne Koma</Label></Rubric></ModifierClass>
<ModifierClass modifier="E10_5" code="0"><SuperClass code="E10_5"/>
  <Rubric kind="preferred"><Label xml:lang="de">Entgleist</Label></Rubric></ModifierClass>
<Class code="IV" kind="chapter"><SubClass code="E10-E14"/>
  <Rubric kind="preferred"><Label xml:lang="de">Eiferkrankheiten</Label></Rubric></Class>
<Class code="E10-E14" kind="block"><SuperClass code="IV"/>
  <Rubric kind="preferred"><Label xml:lang="de">Eifer, zuckrig</Label></Rubric></Class>
<Class code="E10" kind="category"><SuperClass code="E10-E14"/>
  <ModifiedBy code="E10_4" all="false"><ValidModifierClass code=".0"/></ModifiedBy>
  <ModifiedBy code="E10_5" all="true"/>
  <Rubric kind="preferred"><Label xml:lang="de">Primärer Eifer</Label></Rubric>
  <Rubric kind="definition"><Label xml:lang="de">Eifer &amp; Zucker.</Label></Rubric>
  <Rubric kind="inclusion"><Label xml:lang="de">Zucker<Term>eifer</Term>
    <Reference class="in brackets">E10.9</Reference></Label></Rubric></Class>
<Class code="E12" kind="category"><SuperClass code="E10-E14"/>
  <Rubric kind="preferred"><Label xml:lang="de">Sonstiger</Label></Rubric>
  <Rubric kind="preferredLong"><Label xml:lang="de">Sonstiger Eifer</Label></Rubric></Class>
<Class code="E13" kind="category"><SuperClass code="E10-E14"/></Class>
</ClaML>
"""


def written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, "utf8")
    return folder


def made(tmp_path: Path, files: dict[str, str]) -> ConceptTable:
    table_of([written(tmp_path / "raw", files)], tmp_path / "kb")
    return ConceptTable.open(tmp_path / "kb")


def parents(table: ConceptTable) -> dict[str, str]:
    """Return the parent of every concept that has one, by their codes."""
    found = {}
    for concept in table:
        above = table.related(table.row(concept), rels=["PAR"])
        assert len(above) <= 1
        for _, _, row in above:
            found[concept.partition(":")[2]] = table.concept_id(row).partition(":")[2]
    return found


def names(table: ConceptTable, concept: str) -> set[tuple[str, str]]:
    row = table.row(concept)
    rows = table.aliases.to_pylist()
    return {(one["alias"], one["language"]) for one in rows if one["concept"] == row}


def test_icd_10_gm_has_names_codes_and_parents(tmp_path: Path, caplog):
    table = made(tmp_path, ICD_GM)
    codes = ("C90", "C90.0", "C90.01", "E05", "C00-C97", "C81-C96", "E00-E07", "II", "IV")
    assert set(table) == {f"ICD10GM:{code}" for code in codes}
    assert names(table, "ICD10GM:C90.0") == {
        (name, "GER") for name in ("Eiferkrebs der Lippe", "Lippeneifer", "Mundeifer")
    }
    assert names(table, "ICD10GM:C90.01") == {
        (name, "GER")
        for name in ("Eiferkrebs der Lippe: Rezidiv", "EKL", "Wiederkehrender Eifer", "WEL")
    }
    assert names(table, "ICD10GM:E05") == {("Eiferdrüse [Zeldrüse]", "GER")}
    codes = {(row["source"], row["code"]) for row in table.codes.to_pylist()}
    assert ("ICD10GM", "C90.01") in codes
    assert parents(table) == {
        "C90.01": "C90.0", "C90.0": "C90", "C90": "C81-C96", "C81-C96": "C00-C97", "C00-C97": "II",
        "E05": "E00-E07", "E00-E07": "IV",
    }  # fmt: skip
    assert [table[f"ICD10GM:{code}"].types for code in ("II", "C90.01")] == [["T191"], ["T191"]]
    assert table["ICD10GM:E05"].types == ["T047"]
    assert "icd10gm2031syst_kodes.txt:5: this is no row" in caplog.text
    assert "edvtxt_20300901.txt:3: 1|125|1||||Ohne Kode" in caplog.text


def test_codes_of_an_alphabet_alone_have_the_nearest_parent_that_there_is(tmp_path: Path):
    text = "1|1|1|A00.-|||Zeal\n1|2|1|A00.12|||Late zeal\n"
    assert parents(made(tmp_path, {"icd10gm2031alpha_edvtxt.txt": text})) == {"A00.12": "A00"}


def test_ops_is_read_as_icd_is(tmp_path: Path):
    table = made(tmp_path, OPS)
    assert parents(table) == {
        "5-010.0x": "5-010.0", "5-010.0": "5-010", "5-010": "5-01", "5-01": "5-01...5-05",
        "5-01...5-05": "5",
    }  # fmt: skip
    assert table["OPS:5-010.0"].types == ["T061"]


def test_an_archive_is_read_as_it_is_published(tmp_path: Path):
    folder = tmp_path / "raw"
    folder.mkdir()
    with zipfile.ZipFile(folder / "ops2031syst-meta.zip", "w") as archive:
        for name, text in OPS.items():
            archive.writestr(name, text)
        archive.writestr("Liesmich.txt", "Bitte lesen.")
    table_of([folder], tmp_path / "kb")
    assert len(ConceptTable.open(tmp_path / "kb")) == 6


def test_icd_10_of_the_who_is_english(tmp_path: Path):
    row = "4;T;X;01;A00;A00.0;A00.0;A000;Zeal due to haste;Zeal;;;\n"
    table = made(tmp_path, {"icd102019syst_codes.txt": row})
    assert names(table, "ICD10:A00.0") == {("Zeal due to haste", "ENG")}


def test_atc_has_parents_by_the_length_of_its_codes(tmp_path: Path, caplog):
    table = made(tmp_path, {"atc.csv": ATC})
    assert parents(table) == {"A10BA02": "A10BA", "A10BA": "A10B", "A10B": "A10", "A10": "A"}
    assert names(table, "ATC:A10BA02") == {("zealformin", "ENG")}
    assert table["ATC:A"].types == ["T121"]
    assert "atc.csv:8: A1|wrong|NA" in caplog.text


def test_claml_has_long_titles_inclusions_and_classes_made_by_modifiers(tmp_path: Path, caplog):
    table = made(tmp_path, {"icd10gm2031syst_claml.xml": CLAML})
    assert parents(table) == {
        "E10-E14": "IV", "E10": "E10-E14", "E10.0": "E10", "E10.00": "E10.0", "E12": "E10-E14",
    }  # fmt: skip
    assert names(table, "ICD10GM:E10") == {("Primärer Eifer", "GER"), ("Zucker eifer", "GER")}
    assert table["ICD10GM:E10"].definition == "Eifer & Zucker."
    assert names(table, "ICD10GM:E12") == {("Sonstiger Eifer", "GER")}
    assert table.name(table.row("ICD10GM:E10.00")) == "Primärer Eifer: Mit Koma: Entgleist"
    assert "claml.xml:26: Class E13 has no preferred label" in caplog.text


def test_files_and_claml_of_one_classification_are_one(tmp_path: Path):
    text = "1|1|1|E12|||Resteifer\n"
    table = made(tmp_path, {"a.xml": CLAML, "icd10gm2031alpha_edvtxt.txt": text})
    assert ("Resteifer", "GER") in names(table, "ICD10GM:E12")
    assert parents(table)["E12"] == "E10-E14"


def test_xml_that_declares_entities_is_refused(tmp_path: Path):
    lines = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 9}">\n' for n in range(1, 9))
    doctype = f'<!DOCTYPE ClaML [\n<!ENTITY a0 "zeal">\n{lines}]>'
    for root in ("ClaML", "JDBOR"):
        text = f'<?xml version="1.0"?>\n{doctype}\n<{root}>&a8;</{root}>'
        folder = written(tmp_path / root, {"it.xml": text})
        with pytest.raises(BergamotError, match=r"T158.*it.xml:3 declares the entity 'a0'"):
            import_ontologies([folder], tmp_path / "META")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("<ClaML><Class", r"T116.*it.xml:1"), ("<Other/>", r"T116.*root is Other"), ("", "T116")],
)
def test_xml_that_is_broken_or_of_another_form_is_refused(tmp_path: Path, text, reason):
    with pytest.raises(BergamotError, match=reason):
        import_ontologies([written(tmp_path / "raw", {"it.xml": text})], tmp_path / "META")


def test_a_text_file_of_another_name_is_said_to_be_unread(tmp_path: Path, caplog):
    folder = written(tmp_path / "raw", {**OPS, "icd10gm2031syst_morbl.txt": "x;y\n", "a.txt": "b"})
    import_ontologies([folder], tmp_path / "META")
    assert "no known form: a.txt, icd10gm2031syst_morbl.txt" in caplog.text
