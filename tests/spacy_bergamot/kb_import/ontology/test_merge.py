"""Which terms of several ontologies become one concept."""

from pathlib import Path

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


def test_a_label_of_two_terms_of_an_ontology_joins_neither(tmp_path: Path):
    concepts = _concepts(
        tmp_path,
        hp="id: HP:1\nname: zeal\n\nid: HP:2\nname: zeals",
        doid="id: DOID:1\nname: zeal",
    )
    assert set(concepts) == {"HP:1", "HP:2", "DOID:1"}


def test_the_same_label_in_another_semantic_group_is_another_concept(tmp_path: Path):
    concepts = _concepts(
        tmp_path,
        hp="id: HP:1\nname: stem",
        uberon="id: UBERON:1\nname: stem",
    )
    assert set(concepts) == {"HP:1", "UBERON:1"}


def test_terms_that_refer_to_other_cuis_stay_apart(tmp_path: Path):
    concepts = _concepts(
        tmp_path,
        hp="id: HP:1\nname: zeal\nxref: UMLS:C9000001",
        doid="id: DOID:1\nname: zeal\nxref: UMLS:C9000002",
    )
    assert set(concepts) == {"C9000001", "C9000002"}


def test_labels_of_ones_own_terms_join_nothing(tmp_path: Path):
    concepts = _concepts(
        tmp_path,
        hp="id: HP:1\nname: zeal",
        own="id: WARD:1\nname: zeal",
    )
    assert set(concepts) == {"HP:1", "WARD:1"}
