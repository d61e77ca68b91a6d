"""Which terms of several ontologies become one concept."""

from pathlib import Path

import pytest

from spacy_bergamot.kb_import.ontology.cli import import_ontologies


def _concepts(
    tmp_path: Path, *, mappings: tuple[str, ...] = (), **ontologies: str
) -> dict[str, set[str]]:
    """Return the names by concept of ontologies, each as lines of OBO's stanzas.

    mappings: Rows of SSSOM, as subject, predicate and object.
    """
    sssom = ["subject_id\tpredicate_id\tobject_id", *(row.replace(" ", "\t") for row in mappings)]
    (tmp_path / "match.sssom.tsv").write_text("\n".join(sssom) + "\n")
    for name, stanzas in ontologies.items():
        text = "\n\n".join("[Term]\n" + stanza for stanza in stanzas.strip().split("\n\n"))
        (tmp_path / f"{name}.obo").write_text(f"format-version: 1.2\n\n{text}\n")
    files = [tmp_path / f"{name}.obo" for name in ontologies]
    import_ontologies([*files, tmp_path / "match.sssom.tsv"], tmp_path / "META")
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
                "hp": "id: HP:1\nname: zeal fever\n\nid: HP:2\nname: fever zeal",
                "doid": "id: DOID:1\nname: zeal fevers",
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


APART = """
id: HP:1
name: zeal
xref: UMLS:C9000001

id: HP:2
name: zeal disorder
"""


@pytest.mark.parametrize(
    ("mappings", "concepts"),
    [
        pytest.param(("DOID:1 owl:sameAs HP:2",), {"C9000001"}, id="one more of an ontology"),
        pytest.param(("HP:2 owl:sameAs HP:1",), {"C9000001"}, id="two of an ontology"),
        pytest.param(("HP:2 skos:exactMatch HP:1",), {"C9000001", "HP:2"}, id="an exact match"),
        pytest.param(
            ("HP:2 skos:exactMatch UMLS:C9000002", "HP:2 owl:sameAs HP:1"),
            {"C9000001", "C9000002"},
            id="two CUIs",
        ),
    ],
)
def test_what_a_mapping_calls_the_same_is_one_concept(tmp_path: Path, mappings, concepts):
    found = _concepts(tmp_path, mappings=mappings, hp=APART, doid="id: DOID:1\nname: zeal")
    assert set(found) == concepts


SYNONYM = 'synonym: "{}" EXACT []'


@pytest.mark.parametrize(
    ("ontologies", "concepts"),
    [
        pytest.param(
            {
                "hp": "id: HP:1\nname: zeal fever\n" + SYNONYM.format("Eager fever"),
                "doid": "id: DOID:1\nname: eager fever\n" + SYNONYM.format("zeal fever"),
            },
            {"DOID:1"},
            id="of two ontologies",
        ),
        pytest.param(
            {
                "hp": "id: HP:1\nname: zeal fever\n"
                + SYNONYM.format("eager fever")
                + "\n\nid: HP:2\nname: eager fever\n"
                + SYNONYM.format("zeal fever")
            },
            {"HP:1"},
            id="of one ontology",
        ),
        pytest.param(
            {
                "hp": "id: HP:1\nname: zeal fever",
                "doid": "id: DOID:1\nname: eager fever\n" + SYNONYM.format("zeal fever"),
            },
            {"DOID:1", "HP:1"},
            id="one way alone",
        ),
        pytest.param(
            {
                "hp": "id: HP:1\nname: zeal before fever\n"
                + SYNONYM.format("zeal before fever")
                + "\n\nid: HP:2\nname: fever before zeal"
            },
            {"HP:1", "HP:2"},
            id="the same words in another order",
        ),
        pytest.param(
            {
                "own": "id: WARD:1\nname: zeal fever\n"
                + SYNONYM.format("eager fever")
                + "\n\nid: WARD:2\nname: eager fever\n"
                + SYNONYM.format("zeal fever")
            },
            {"WARD:1", "WARD:2"},
            id="terms of one's own",
        ),
    ],
)
def test_terms_called_by_each_others_labels_are_one_concept(tmp_path: Path, ontologies, concepts):
    assert set(_concepts(tmp_path, **ontologies)) == concepts


def test_terms_of_ones_own_stay_apart_though_published_ones_are_called_alike(tmp_path: Path):
    """What a table has as two concepts, Bell's palsy and facial palsy, no synonym makes one."""
    found = _concepts(
        tmp_path,
        mappings=("WARD:1 skos:exactMatch HP:1", "WARD:2 skos:exactMatch DOID:1"),
        hp="id: HP:1\nname: zeal fever\n" + SYNONYM.format("eager fever"),
        doid="id: DOID:1\nname: eager fever\n" + SYNONYM.format("zeal fever"),
        own="id: WARD:1\nname: zeal\n\nid: WARD:2\nname: eagerness",
    )
    assert len(found) == 2
