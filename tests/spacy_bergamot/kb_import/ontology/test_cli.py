"""Invented ontologies in every form, imported together and preprocessed."""

from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.errors import BergamotError
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from tests.spacy_bergamot.kb_import.ontology.invented import names, write_sources


def test_terms_become_concepts_with_the_names_of_every_file(table: ConceptTable):
    assert names(table) == {
        "C9000001": {
            ("ENG", "morbid zeal"),
            ("ENG", "zelosis"),
            ("ENG", "night zeal"),
            ("ENG", "excess of zeal"),
            ("ENG", "hyperzelosis"),
            ("GER", "krankhafter Eifer"),
            ("GER", "Zelose"),
            ("TUR", "aşırı gayret"),
            ("TUR", "gayret hastalığı"),
        },
        "ZO:0000002": {("ENG", "acute zeal"), ("GER", "akuter Eifer")},  # two CUIs are none
        "ZO:0000003": {("ENG", "zeal gland"), ("ENG", "zeal rash"), ("SPA", 'glándula "del celo"')},
        "ORPHA:77": {("FRE", "zèle rare"), ("FRE", "zélose")},
    }


def test_codes_definitions_types_and_relations_come_along(table: ConceptTable):
    ids = table.concepts["concept_id"].to_pylist()
    codes = {(ids[r["concept"]], r["source"], r["code"]) for r in table.codes.to_pylist()}
    assert ("C9000001", "MESH", "MESH:D999999") in codes
    assert ("C9000001", "YO", "YO:0000007") in codes
    definitions = dict(zip(ids, table.concepts["definition"].to_pylist(), strict=True))
    assert definitions["C9000001"] == "Too much zeal."
    types = {(ids[r["concept"]], r["type"]) for r in table.types.to_pylist()}
    assert ("ORPHA:77", "T047") in types
    relations = {
        (ids[r["head"]], ids[r["tail"]], r["rel"], r["rela"]) for r in table.relations.to_pylist()
    }
    both = {("ZO:0000002", "C9000001"), ("C9000001", "ZO:0000002")}
    assert {(a, b) for a, b, rel, _ in relations if rel in ("PAR", "CHD")} == both
    assert {rela for _, _, rel, rela in relations if rel == "RO"} == {
        "part_of", "inverse_part_of", "has_sign", "inverse_has_sign",
    }  # fmt: skip


def test_what_is_left_out_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    raw = write_sources(tmp_path / "raw")
    import_ontologies([raw], tmp_path / "META", reviewed_only=True)
    for text in (
        "notes.txt",
        "1 translations that nobody has reviewed: suppressed",
        "zo-de.babelon.tsv:7: en|de|nonsense",
        "1 malformed rows",
        "1 mappings that would join two terms of one ontology",
        "1 mappings that are not exact",
        "1 names of obsolete terms",
        "1 names with | or U+FFFD",
        "2 untranslated rows",
    ):
        assert text in caplog.text
    conso = (tmp_path / "META/MRCONSO.RRF").read_text("utf8")
    assert "|akuter Eifer|0|Y||" in conso
    assert "|keenness|0|Y||" in conso
    assert "|zealous fit|" not in conso  # a template's English name, which is no Turkish one
    import_ontologies([raw], tmp_path / "all")
    assert "|akuter Eifer|0|N||" in (tmp_path / "all/MRCONSO.RRF").read_text("utf8")


def test_columns_that_say_nothing_are_named(tmp_path: Path):
    (tmp_path / "codes.csv").write_text("Code,Bezeichnung\nA1,Fieber\n", "utf8")
    with pytest.raises(BergamotError, match=r"T118.*columns of .*csv are code, bezeichnung"):
        import_ontologies([tmp_path], tmp_path / "META")


def test_semantic_types_that_there_are_not_are_named(tmp_path: Path, caplog):
    table = "id,name,type\na1,fever,T184\na2,flu,DISO\na3,pain,T999|DISO\n"
    (tmp_path / "own.csv").write_text(table, "utf8")
    import_ontologies([tmp_path / "own.csv"], tmp_path / "META")
    assert (
        "No semantic types of UMLS, so that they have no group: DISO (2), T999 (1)" in caplog.text
    )
