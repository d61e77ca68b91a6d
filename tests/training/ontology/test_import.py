"""Invented ontologies in every form, imported and preprocessed."""

import gzip
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.ontology.records import accession_of, language_of
from spacy_bergamot.kb_import.ontology.sources import version_of
from training.__main__ import app
from training.errors import BergamotError

OBO = """format-version: 1.2
data-version: zo/2026-01-01

[Term]
id: ZO:0000001
name: morbid zeal
def: "Zeal beyond measure." [ZO:curator]
synonym: "zelosis" EXACT []
synonym: "keenness" RELATED []
synonym: "night zeal" NARROW []
xref: UMLS_CUI:C9000001
xref: MESH:D999999

[Term]
id: ZO:0000002
name: acute zeal
is_a: ZO:0000001 ! morbid zeal
relationship: part_of ZO:0000003
xref: UMLS:C9000002
xref: UMLS:C9000003

[Term]
id: ZO:0000003
name: zeal gland

[Term]
id: ZO:0000004
name: obsolete zeal
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""

GRAPH = {
    "graphs": [
        {
            "id": "http://purl.obolibrary.org/obo/yo.owl",
            "meta": {"version": "2026-02-02"},
            "nodes": [
                {
                    "id": "http://purl.obolibrary.org/obo/YO_0000007",
                    "lbl": "excess of zeal",
                    "type": "CLASS",
                    "meta": {
                        "definition": {"val": "Too much zeal."},
                        "synonyms": [
                            {"pred": "hasExactSynonym", "val": "hyperzelosis"},
                            {"pred": "hasBroadSynonym", "val": "zeal"},
                        ],
                        "xrefs": [{"val": "UMLS:C9000001"}],
                    },
                },
                {
                    "id": "http://purl.obolibrary.org/obo/YO_0000008",
                    "lbl": "zeal of old",
                    "type": "CLASS",
                    "meta": {"deprecated": True},
                },
                {
                    "id": "http://purl.obolibrary.org/obo/YO_0000009",
                    "lbl": "zeal | bar",
                    "type": "CLASS",
                },
                {
                    "id": "http://purl.obolibrary.org/obo/YO_0000010",
                    "lbl": "zeal rash",
                    "type": "CLASS",
                },
                {
                    "id": "http://purl.obolibrary.org/obo/YO_r1",
                    "lbl": "has sign",
                    "type": "PROPERTY",
                },
            ],
            "edges": [
                {
                    "sub": "http://purl.obolibrary.org/obo/YO_0000007",
                    "pred": "http://purl.obolibrary.org/obo/YO_r1",
                    "obj": "http://purl.obolibrary.org/obo/YO_0000010",
                }
            ],
        }
    ]
}
BABELON = """source_language\ttranslation_language\tsubject_id\tpredicate_id\t\
source_value\ttranslation_value\ttranslation_status
en\tde\tZO:0000001\trdfs:label\tmorbid zeal\tkrankhafter Eifer\tOFFICIAL
en\tde\tZO:0000002\trdfs:label\tacute zeal\takuter Eifer\tCANDIDATE
en\tde\tZO:0000001\toboInOwl:hasExactSynonym\tzelosis\tZelose\tOFFICIAL
en\tde\tZO:0000004\trdfs:label\tobsolete zeal\talter Eifer\tOFFICIAL
en\tde\tZO:0000003\trdfs:label\tzeal gland\t\tNOT_TRANSLATED
en\tde\tnonsense\trdfs:label\tx\ty\tOFFICIAL
"""
VARIANT = '''source_id\tpredicate\tsource_text\ttranslation_text\ttranslator\t\
source_lang\ttranslation_lang\tstatus
ZO:0000003\trdfs:label\tzeal gland\t"glándula ""del celo"""\t\ten\tes\tfinal
'''
SYNONYMS = """subject_id\ttranslation_value\tcomment
ID\tAL oboInOwl:hasExactSynonym@tr SPLIT=|\t
ZO:0000001\taşırı gayret|gayret hastalığı\tOFFICIAL
ZO:0000001\tzealous fit\tNOT_TRANSLATED
"""
SSSOM = """# curie_map:
#   ZO: http://purl.obolibrary.org/obo/ZO_
subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label
ZO:0000003\tzeal gland\tskos:exactMatch\tYO:0000010\tzeal rash
ZO:0000003\tzeal gland\tskos:exactMatch\tYO:0000007\texcess of zeal
ZO:0000002\tacute zeal\tskos:broadMatch\tYO:0000007\texcess of zeal
"""
ORPHADATA = """<?xml version="1.0" encoding="ISO-8859-1"?>
<JDBOR><DisorderList><Disorder id="1"><OrphaCode>77</OrphaCode><Name lang="fr">zèle rare</Name>
<SynonymList><Synonym lang="fr">zélose</Synonym></SynonymList></Disorder></DisorderList></JDBOR>
"""


def write_sources(folder: Path) -> Path:
    folder.mkdir()
    (folder / "zo.obo").write_text(OBO, "utf8")
    (folder / "yo.json.gz").write_bytes(gzip.compress(json.dumps(GRAPH).encode()))
    (folder / "zo-de.babelon.tsv").write_text(BABELON, "utf8")
    (folder / "zo-es.tsv").write_text(VARIANT, "utf8")
    (folder / "zo-tr.synonyms.tsv").write_text(SYNONYMS, "utf8")
    (folder / "match.sssom.tsv").write_text(SSSOM, "utf8")
    (folder / "notes.txt").write_text("not for us", "utf8")
    inside = folder.parent / "fr.xml"
    inside.write_text(ORPHADATA, "latin1")
    with tarfile.open(folder / "orpha.tar.xz", "w:xz") as archive:
        archive.add(inside, "2026/fr.xml")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> ConceptTable:
    import_ontologies([write_sources(tmp_path / "raw")], tmp_path / "META", prefer=("ZO",))
    build_concept_table(tmp_path / "META", tmp_path / "kb", filters=Filters(), max_malformed=0)
    return ConceptTable.open(tmp_path / "kb")


def names(table: ConceptTable) -> dict[str, set[tuple[str, str]]]:
    ids = table.concepts["concept_id"].to_pylist()
    found: dict[str, set[tuple[str, str]]] = {concept: set() for concept in ids}
    for row in table.aliases.to_pylist():
        found[ids[row["concept"]]].add((row["language"], row["alias"]))
    return found


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


def test_a_term_has_the_type_of_its_branch(tmp_path: Path):
    terms = {
        "HP:0000001": ("All", None),
        "HP:0000118": ("Phenotypic abnormality", "HP:0000001"),
        "HP:0000005": ("Mode of inheritance", "HP:0000001"),
        "HP:1": ("fever", "HP:0000118"),
        "HP:2": ("very high fever", "HP:1"),
        "HP:3": ("by halves", "HP:0000005"),
        "HP:4": ("severe", "HP:0000001"),
        "HP:5": ("of no branch", None),
        "HP:6": ("obsolete chill", "HP:1"),
        "SO:1": ("single", None),
        "MINE:1": ("of one's own", "HP:1"),
    }
    frames = (
        f"[Term]\nid: {term}\nname: {name}\n" + (f"is_a: {parent}\n" if parent else "")
        for term, (name, parent) in terms.items()
    )
    (tmp_path / "hp.obo").write_text("format-version: 1.2\n\n" + "\n".join(frames))
    import_ontologies([tmp_path / "hp.obo"], tmp_path / "META")
    build_concept_table(tmp_path / "META", tmp_path / "kb", filters=Filters(), max_malformed=0)
    table = ConceptTable.open(tmp_path / "kb")
    types = {term: list(table[term].types) for term in table}
    assert types == {
        "HP:0000001": ["T080"],
        "HP:0000118": ["T033"],
        "HP:0000005": ["T045"],
        "HP:1": ["T033"],
        "HP:2": ["T033"],
        "HP:3": ["T045"],
        "HP:4": ["T080"],
        "HP:5": ["T033"],
        "SO:1": ["T086"],
        "MINE:1": [],
    }


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


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.json", b'{"graphs": [', "T116"),
        ("a.json", b"[]", "T116"),
        ("a.obo", b"\xff\xfe\x00", "T116"),
        ("a.xml", b"<html></html>", "T116"),
        ("a.xml", b"<JDBOR><Disorder>", "T116"),
        ("a.json.gz", gzip.compress(b"{}", mtime=0)[:-4], "T116"),
        ("a.tsv", "id\tname\nx\tz\xe9".encode("latin1"), "T116"),
        ("a.zip", b"PK", "T116"),
        ("a.txt", b"words", "T118"),
        ("b.csv", b"colour,size\nred,2\n", "T118"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, content: bytes, code: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BergamotError, match=rf"{code}.*{name.removesuffix('.gz')}") as caught:
        import_ontologies([path], tmp_path / "META")
    assert str(path.name).removesuffix(".gz") in str(caught.value)
    assert not (tmp_path / "META").exists()
    with pytest.raises(BergamotError, match="T117"):
        import_ontologies([tmp_path / "nowhere"], tmp_path / "META")


def test_a_broken_frame_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "zo.obo"
    path.write_text(OBO.replace('"zelosis" EXACT []', '"zelosis" EXACT [http://a b\\c]'), "utf8")
    rows = import_ontologies([path], tmp_path / "META")
    assert rows["MRCONSO"] == 2
    assert "zo.obo:" in caplog.text


def test_a_synonyms_table_says_its_own_language(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "a.tsv").write_text(SYNONYMS, "utf8")
    rows = [line for line in SYNONYMS.splitlines() if not line.startswith("ID")]
    (tmp_path / "b.tsv").write_text("\n".join(rows), "utf8")
    import_ontologies([tmp_path], tmp_path / "META")
    assert "b.tsv:2" in caplog.text


@pytest.mark.parametrize(
    ("identifier", "accession"),
    [
        ("http://purl.obolibrary.org/obo/HP_0001250", "HP:0001250"),
        ("http://www.orpha.net/ORDO/Orphanet_370980", "ORPHA:370980"),
        ("http://identifiers.org/hgnc/5724", "HGNC:5724"),
        ("http://linkedlifedata.com/resource/umls/id/C0012634", "UMLS:C0012634"),
        ("UMLS:0189573", None),
        ("SNOMEDCT_US_2025_09_01:190958003", "SNOMEDCT_US:190958003"),
        ("mim:264300", "OMIM:264300"),
        ("just words", None),
        ("", None),
        (":1", None),
        ("HP:1|2", None),
    ],
)
def test_accessions(identifier: str, accession: str | None):
    assert accession_of(identifier) == accession


def test_languages():
    assert [language_of(c) for c in ("de", "pt-BR", "zh_Hans", "GER", "xx")] == [
        "GER", "POR", "CHI", "GER", "XX",
    ]  # fmt: skip


def test_versions_and_licences_of_the_sources_come_along(tmp_path: Path):
    folder = write_sources(tmp_path / "raw")
    licence = "https://creativecommons.org/licenses/by/4.0/"
    head = f"{OBO.partition(chr(10) * 2)[0]}\nproperty_value: terms:license {licence}\n"
    head += 'property_value: dc:title "Zeal Ontology" xsd:string\n\n'
    (folder / "zo.obo").write_text(head + OBO.partition("\n\n")[2], "utf8")
    older = OBO.replace("zo/2026-01-01", "zo/releases/2025-05-05/zo.obo")
    (folder / "zo-2025.obo").write_text(older, "utf8")
    module = json.loads(json.dumps(GRAPH).replace("YO_", "ZO_"))
    module["graphs"][0]["meta"] = {"version": "http://purl.obolibrary.org/obo/imports/zo.owl"}
    (folder / "a-module.json").write_text(json.dumps(module), "utf8")
    (folder / "sources.tsv").write_text(
        "source\tversion\tlicence\turl\norpha\t4.1\tCC BY 4.0\thttps://orpha.example\nYO\t\tCC0\t\n",
        "utf8",
    )
    import_ontologies([folder], tmp_path / "META", prefer=("ZO",))
    build_concept_table(tmp_path / "META", tmp_path / "kb", filters=Filters(), max_malformed=0)
    said = {
        row.pop("source"): row for row in ConceptTable.open(tmp_path / "kb").manifest["release"]
    }
    assert {source: row.pop("restriction") for source, row in said.items()}.keys() == {
        "ORPHA", "YO", "ZO",
    }  # fmt: skip
    assert said["ZO"] == {
        "version": "2025-05-05, 2026-01-01", "name": "Zeal Ontology", "licence": licence,
    }  # fmt: skip
    assert said["YO"] == {"version": "2026-02-02", "name": "YO", "licence": "CC0"}
    assert said["ORPHA"] == {
        "version": "4.1", "name": "ORPHA", "licence": "CC BY 4.0",
        "address": "https://orpha.example",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.6", "2.6"),
        ("doid/releases/2026-07-31/subsets/DO_rare_slim.obo", "2026-07-31"),
        ("http://purl.obolibrary.org/obo/uberon/releases/v3.2/uberon.owl", "3.2"),
        ("http://www.orpha.net/ontology/http://www.orpha.net/version2.6/http://a.owl", "2.6"),
        ("http://purl.obolibrary.org/obo/doid/imports/symp_import.owl", ""),
    ],
)
def test_a_version_is_read_from_an_iri(text: str, version: str):
    assert version_of(text) == version


def test_names_with_control_characters_are_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    (tmp_path / "own.csv").write_text("id,name\na1,ze\0al\na2,keenness\n", "utf8")
    rows = [{"id": "b1", "name": "he\ud800art"}, {"id": "b2", "name": "skull", "definition": "\0"}]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    import_ontologies([tmp_path], tmp_path / "out/META")
    conso = (tmp_path / "out/META/MRCONSO.RRF").read_text("utf8")
    assert conso.count("\n") == 2
    assert "1 names with control characters" in caplog.text
    assert r"a1: the name 'ze\x00al' has U+0000" in caplog.text
    assert "1 malformed rows" in caplog.text
    assert f"{tmp_path / 'own.jsonl'}:1: " in caplog.text


@pytest.mark.parametrize(
    ("file", "content", "line"),
    [
        ("a.csv", b"id,name\nx,a\ny,z\xfcrich\n", 3),
        ("a.csv", "id,name\nx,a\n".encode("utf-16"), 1),
        ("a.csv", b'id,name\nx,a\ny,"b\nz,c\n', 4),
        ("a.tsv", b"id\tname\nx\tz\xfcrich\n", 2),
        ("a.json", b'{"graphs": [\n{"nodes": [\n}', 3),
        ("a.json", b'{"graphs": [\n{"nodes": [{"lbl": "\xfc"}]}]}', 2),
        ("a.json", b'{"graphs": [\n\n{"nodes": [{"lbl": "a\\uD800b"}]}]}', 3),
        ("a.json", b"[" * 200_000, 1),
        ("a.xml", b"<JDBOR>\n<Disorder>\n", 3),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path: Path, file: str, content: bytes, line: int):
    (tmp_path / file).write_bytes(content)
    with pytest.raises(BergamotError, match=rf"T116.*{file}:{line} "):
        import_ontologies([tmp_path], tmp_path / "out/META")


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [("a.jsonl", "{}\n", r"a\.jsonl:1: {}; a\.jsonl has none"),
     ("a.csv", "id;x\n", r"a\.csv is of no"),
     ("a.obo", "[Term]\nid: ZO:1\n", r"a\.obo has none")],
)  # fmt: skip
def test_what_is_wrong_with_the_files_of_a_folder_is_said(
    tmp_path: Path, file: str, content: str, problem: str
):
    (tmp_path / file).write_text(content, "utf8")
    with pytest.raises(BergamotError, match=rf"T118.*{problem}"):
        import_ontologies([tmp_path], tmp_path / "out/META")


def test_a_broken_line_of_jsonl_is_skipped_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    lines = ['{"name": "no id"}', '{"id": "x", "name": "a\\ud800"}', "[" * 200_000, '{"id": "y"}',
             '{"id": "z", "name": NaN}', '{"id": "w", "name": "whole"}']  # fmt: skip
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    import_ontologies([tmp_path], tmp_path / "out/META")
    assert all(f"a.jsonl:{number}: " in caplog.text for number in range(1, 6))
    assert (tmp_path / "out/META/MRCONSO.RRF").read_text("utf8").count("\n") == 1


def test_a_table_separated_by_semicolons_is_read(tmp_path: Path):
    (tmp_path / "a.csv").write_text('id;name;synonyms\nx;"zeal; acute";zest, keen\n', "utf8")
    import_ontologies([tmp_path], tmp_path / "out/META")
    conso = (tmp_path / "out/META/MRCONSO.RRF").read_text("utf8")
    assert "|zeal; acute|" in conso
    assert "|zest, keen|" in conso
