"""The usual names of assets/usual: as `import` reads them, in every language one concept each."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.build import table_of
from spacy_bergamot.languages import NAMES
from spacy_bergamot.mentions.usual_short_forms import usual_short_forms
from spacy_bergamot.text import normalize

USUAL = Path(__file__).parents[1] / "assets/usual"
FILES = sorted(USUAL.glob("names_*.tsv"))
BOTH = {"coronary artery disease": "ischemic heart disease", "abdominal distension": "bloating"}
"""Concepts of which some languages have one word."""
FIRST_OF_OTHERS = "USUAL:3001"
"""Below it are disorders, symptoms and signs; from it on drugs, procedures, measures, anatomy, …"""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def english() -> dict[str, str]:
    return {row["id"]: row["name"] for row in rows(USUAL / "names_ENG.tsv")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_name_means_one_concept(path: Path):
    known, language = english(), path.stem.removeprefix("names_")
    assert language in NAMES
    found = rows(path)
    assert len({row["id"] for row in found}) == len(found) > 950
    meant = defaultdict(set)
    for row in found:
        assert row["language"] == language
        assert row["exclusive"] == "yes"
        assert row.get("english", row["name"]) == known[row["id"]]
        for name in (row["name"], *filter(None, row.get("synonyms", "").split("|"))):
            assert name == name.strip()
            assert not set(name) & set("()[]/;=")
            meant[normalize(name)].add(known[row["id"]])
    several = {name: concepts for name, concepts in meant.items() if len(concepts) > 1}
    pairs = [{one, other} for one, other in BOTH.items()] + [{"dizziness", "vertigo"}]
    assert all(concepts in pairs for concepts in several.values()), several


def test_concepts_are_mapped_and_have_a_type():
    mapped = {row["subject_id"] for row in rows(USUAL / "mappings.sssom.tsv")}
    types = {row["id"]: row["type"] for row in rows(USUAL / "names_ENG.tsv")}
    assert mapped < types.keys()
    diseases = {id for id, of in types.items() if set(of.split("|")) & {"T047", "T048", "T191"}}
    assert len(mapped & diseases) > 0.9 * len(diseases)
    # The rest are injuries and signs of examination and imaging, which ontologies often lack.
    findings = {id for id in types if id < FIRST_OF_OTHERS}
    assert len(mapped & findings) > 0.8 * len(findings)
    known = {kind.tui for kind in semantic_types()}
    assert {tui for of in types.values() for tui in of.split("|")} <= known


def test_what_short_forms_mean_has_a_name_that_is_none():
    names = (
        name
        for row in rows(USUAL / "names_ENG.tsv")
        for name in (row["name"], *row["synonyms"].split("|"))
    )
    # Large knowledge bases have so many names of three capitals that none of them counts.
    known = {normalize(name) for name in names if len(name) > 3 or not name.isupper()}
    for language in NAMES:
        meant = {normalize(long) for long in usual_short_forms(language).values()}
        assert meant <= known, language


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ConceptTable:
    path = tmp_path_factory.mktemp("usual") / "kb"
    table_of([USUAL], path)
    return ConceptTable.open(path)


def test_they_are_a_knowledge_base_by_themselves(table: ConceptTable):
    mappings, known = rows(USUAL / "mappings.sssom.tsv"), english()
    mapped = [row["object_id"] for row in mappings]
    # Some of our own are one concept: crackles and rales.
    assert len(table) == len(known) - sum(code in known for code in mapped)
    cuis = {code.removeprefix("UMLS:") for code in mapped if code.startswith("UMLS:")}
    assert {id for id in table if not id.startswith("USUAL:")} == cuis
    concept = table["C0038454"]  # stroke
    assert {"инсульт", "ictus", "Schlaganfall", "脑卒中"} <= set(concept.aliases)
    assert len(concept.languages) == len(FILES)


def test_drugs_procedures_measures_and_anatomy_are_among_them(table: ConceptTable):
    groups = Counter(table.types["group"].to_pylist())
    least = {"CHEM": 1000, "PROC": 700, "PHYS": 110, "ANAT": 280, "LIVB": 120, "DEVI": 100}
    assert {group: count for group, count in least.items() if groups[group] < count} == {}
    metformin = table[next(id for id, name in english().items() if name == "metformin")]
    assert {"метформин", "二甲双胍", "metformine", "metformina"} <= set(metformin.aliases)
    assert metformin.codes["DRUGBANK"] == ["DRUGBANK:DB00331"]
