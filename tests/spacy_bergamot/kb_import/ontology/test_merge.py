"""Which terms of several ontologies become one concept."""

from pathlib import Path

import pytest

from spacy_bergamot.kb_import.ontology.cli import import_ontologies


def _concepts(tmp_path: Path, **ontologies: str) -> dict[str, set[str]]:
    """Return the names by concept of ontologies, each as lines of OBO's stanzas."""
    for name, stanzas in ontologies.items():
        text = "\n\n".join("[Term]\n" + stanza for stanza in stanzas.strip().split("\n\n"))
        (tmp_path / f"{name}.obo").write_text(f"format-version: 1.2\n\n{text}\n")
    import_ontologies([tmp_path / f"{name}.obo" for name in ontologies], tmp_path / "META")
    found: dict[str, set[str]] = {}
    for line in (tmp_path / "META/MRCONSO.RRF").read_text().splitlines():
        columns = line.split("|")
        if columns[12] != "XR":
            found.setdefault(columns[0], set()).add(columns[14])
    return found


def test_terms_with_the_same_label_are_one_concept(tmp_path: Path):
    concepts = _concepts(
        tmp_path,
        hp="""
id: HP:0000822
name: Neoplasm of the zeal
synonym: "zealoma" EXACT []
xref: UMLS:C9000001
xref: UMLS:C9000002
""",
        doid="""
id: DOID:1
name: zeal neoplasms
xref: UMLS:C9000001
""",
    )
    assert concepts == {"C9000001": {"Neoplasm of the zeal", "zealoma", "zeal neoplasms"}}


@pytest.mark.parametrize(
    ("ontologies", "apart"),
    [
        pytest.param(
            {
                "hp": "id: HP:1\nname: zeal\n\nid: HP:2\nname: zeals",
                "doid": "id: DOID:1\nname: zeal",
            },
            {"HP:1", "HP:2", "DOID:1"},
            id="a label of two terms of one ontology",
        ),
        pytest.param(
            {"hp": "id: HP:1\nname: stem", "uberon": "id: UBERON:1\nname: stem"},
            {"HP:1", "UBERON:1"},
            id="another semantic group",
        ),
        pytest.param(
            {
                "hp": "id: HP:1\nname: zeal\nxref: UMLS:C9000001",
                "doid": "id: DOID:1\nname: zeal\nxref: UMLS:C9000002",
            },
            {"C9000001", "C9000002"},
            id="other CUIs",
        ),
        pytest.param(
            {"hp": "id: HP:1\nname: zeal", "own": "id: WARD:1\nname: zeal"},
            {"HP:1", "WARD:1"},
            id="terms of one's own",
        ),
    ],
)
def test_the_same_label_joins_no_other_terms(tmp_path: Path, ontologies, apart):
    assert set(_concepts(tmp_path, **ontologies)) == apart


def test_a_cui_that_is_nobodys_goes_to_the_concept_that_refers_to_it_alone(tmp_path: Path):
    hp = "\n\n".join(
        [
            "id: HP:1\nname: dyspnea\nxref: UMLS:C9000001",
            "id: HP:2\nname: respiratory distress\nxref: UMLS:C9000001\nxref: UMLS:C9000002",
            "id: HP:3\nname: seizure\nxref: UMLS:C9000003\nxref: UMLS:C9000004",
            "id: HP:4\nname: dizzy\nxref: UMLS:C9000005\nxref: UMLS:C9000006",
            "id: HP:5\nname: twin\nxref: UMLS:C9000007",
            "id: HP:6\nname: other twin\nxref: UMLS:C9000007",
        ]
    )
    concepts = _concepts(tmp_path, hp=hp, doid="id: DOID:1\nname: epilepsy\nxref: UMLS:C9000003")
    assert concepts == {
        "C9000001": {"dyspnea"},
        "C9000002": {"respiratory distress"},
        "C9000003": {"epilepsy"},
        "C9000004": {"seizure"},
        "HP:4": {"dizzy"},  # two are left
        "HP:5": {"twin"},
        "HP:6": {"other twin"},
    }
