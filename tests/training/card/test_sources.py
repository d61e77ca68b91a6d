"""Which sources a card names, and under which licences."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from training.card.sources import licence_name, licence_of, sources_of


def sources(names: dict[tuple[str, str], int], release: list[dict[str, str]]) -> dict[str, dict]:
    """Return the sources of a table that has so many names of each source and language."""
    rows = [pair for pair, count in names.items() for _ in range(count)]
    columns = {"source": [source for source, _ in rows], "language": [lat for _, lat in rows]}
    table = SimpleNamespace(aliases=pa.table(columns))
    return {entry["source"]: entry for entry in sources_of(table, release)}


def test_the_languages_of_a_source_are_one():
    found = sources(
        {("HP", "ENG"): 3, ("HPGER", "GER"): 2, ("XGER", "GER"): 1},
        [{"source": "HP", "version": "2024-04-26", "restriction": "0", "name": "HP"}],
    )
    assert list(found) == ["HP", "XGER"]
    assert (found["HP"]["names"], found["HP"]["languages"]) == (5, ["ENG", "GER"])
    assert (found["HP"]["name"], found["HP"]["licence"], found["HP"]["by"]) == (
        "Human Phenotype Ontology", "HPO licence", "table",
    )  # fmt: skip
    assert "(version 2024-04-26)" in found["HP"]["thanks"]
    assert found["XGER"]["licence"] == ""


def test_a_release_is_believed_before_what_is_known():
    said = {"source": "ORPHANET", "version": "4.1", "licence": "CC BY-ND 3.0", "name": ""}
    found = sources({("ORPHANET", "ENG"): 1, ("ORPHANETITA", "ITA"): 1}, [said])
    entry = found["ORPHANET"]
    assert (entry["licence"], entry["by"], entry["name"]) == ("CC BY-ND 3.0", "release", "Orphanet")


def test_sources_of_umls_stand_under_its_licence():
    release = [
        {"source": source, "version": "2025AB", "restriction": level, "name": name}
        for source, level, name in (
            ("MTH", "0", "UMLS Metathesaurus"), ("NCI", "0", "NCI Thesaurus, 2025"),
            ("SNOMEDCT_US", "9", "SNOMED CT, US Edition"), ("MSHSPA", "3", "DeCS"),
        )
    ]  # fmt: skip
    found = sources({("SNOMEDCT_US", "ENG"): 4, ("NCI", "ENG"): 2, ("MSHSPA", "SPA"): 1}, release)
    assert "MTH" not in found  # it gives no name
    assert found["SNOMEDCT_US"]["licence"] == "UMLS Metathesaurus Licence, category 9"
    assert found["NCI"]["licence"] == "UMLS Metathesaurus Licence, category 0"
    assert found["MSHSPA"]["address"].endswith("/MSHSPA")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("http://creativecommons.org/licenses/by-sa/3.0/", "CC BY-SA 3.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0 1.0"),
        ("https://hpo.jax.org/app/license", "HPO licence"),
        ("ours", "ours"),
    ],
)
def test_a_licence_is_called_by_its_name(text: str, name: str):
    assert licence_name(text) == name


def test_a_line_of_licences_says_what_is_not_said():
    entries = [{"source": "A", "licence": "MIT"}, {"source": "B", "licence": ""}]
    assert licence_of(entries, ["CC0 1.0"]) == "CC0 1.0, MIT; not said for B"
    assert licence_of(entries[1:]) == ""
