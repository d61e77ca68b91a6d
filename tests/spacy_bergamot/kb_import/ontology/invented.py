"""Invented ontologies in every form that is read."""

import gzip
import json
import tarfile
from pathlib import Path

from spacy_bergamot.kb.concept_table import ConceptTable

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


def names(table: ConceptTable) -> dict[str, set[tuple[str, str]]]:
    ids = table.concepts["concept_id"].to_pylist()
    found: dict[str, set[tuple[str, str]]] = {concept: set() for concept in ids}
    for row in table.aliases.to_pylist():
        found[ids[row["concept"]]].add((row["language"], row["alias"]))
    return found
