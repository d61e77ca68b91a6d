import json
import re

import pytest

from training.evaluate.report.blocks import Table
from training.evaluate.report.published import PATH, comparable, published_section

KNOWN = json.loads(PATH.read_text(encoding="utf8"))


@pytest.mark.parametrize("entry", KNOWN["figures"], ids=lambda e: f"{e['paper']} {e['set']}")
def test_every_figure_has_a_source(entry: dict):
    assert entry["paper"] in KNOWN["papers"]
    assert re.match(r"https://\S+$", entry["source"])
    assert 0 < entry["value"] < 100
    assert entry["dictionary"]
    assert entry["metric"] in {"acc@1", "acc@5", "acc@1_names", "acc@5_names"}


def figures(group: str, protocol: str = "full", mentions: int = 1000) -> dict:
    systems = {"exact": {group: {"acc@1_names": 12.34, "n": mentions}}}
    return {"protocol": protocol, "systems": systems, "further_protocols": {}}


def test_published_figures_stand_beside_ours():
    blocks = list(published_section(figures("xlbel_en")))
    (row,) = next(block for block in blocks if isinstance(block, Table)).rows
    assert row[3:5] == ("78.7", "exact 12.3")
    assert row[5] == "no: their dictionary is the paper's, ours not said"
    blocks = list(published_section(figures("xlbel_en", mentions=90), release="the paper's"))
    (row,) = next(block for block in blocks if isinstance(block, Table)).rows
    assert row[5] == "no: theirs are 1000 mentions, ours 90"
    blocks = list(published_section(figures("xlbel_en"), release="the paper's"))
    (row,) = next(block for block in blocks if isinstance(block, Table)).rows
    assert row[5] == "yes"


def test_sets_by_another_name_other_protocols_and_unknown_sets():
    tables = [
        block for block in published_section(figures("mine"), sets={"mine": "NCBI"})
        if isinstance(block, Table)
    ]  # fmt: skip
    assert [row[0] for row in tables[0].rows] == ["mine"]
    (row,) = next(
        b for b in published_section(figures("xlbel_en", "filtered")) if isinstance(b, Table)
    ).rows
    assert row[4] == "protocol not run"
    assert not list(published_section(figures("invented")))
    assert comparable({"dictionary": "UMLS 2020AB"}, "UMLS 2020AA", 5).startswith("no")


def test_a_named_set_without_mentions():
    (row, *_) = next(
        block for block in published_section(figures("mine"), sets={"other": "NCBI"})
        if isinstance(block, Table)
    ).rows  # fmt: skip
    assert row[4] == "set without mentions"
