"""Versions and licences of the sources."""

import json
from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.ontology.sources import version_of
from tests.spacy_bergamot.kb_import.ontology.invented import GRAPH, OBO, write_sources


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
