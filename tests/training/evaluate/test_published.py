import json
import re

import pytest

from training.evaluate.metrics import GOLDS
from training.evaluate.report.blocks import Table, Text
from training.evaluate.report.published import PATH, comparable, published_section

KNOWN = json.loads(PATH.read_text(encoding="utf8"))
NEEDED = {"paper", "system", "set", "protocol", "metric", "value", "dictionary", "source"}


@pytest.mark.parametrize("entry", KNOWN["figures"], ids=lambda e: f"{e['paper']} {e['set']}")
def test_every_figure_has_a_source(entry: dict):
    assert set(entry) - {"mentions", "golds", "trained"} == NEEDED | {"secondary"}
    assert entry["paper"] in KNOWN["papers"]
    assert re.match(r"https://\S+$", entry["source"])
    assert 0 < entry["value"] < 100
    assert entry["dictionary"]
    assert entry["metric"] in {"acc@1", "acc@5", "acc@1_names", "acc@5_names"}
    assert isinstance(entry["secondary"], bool)
    assert entry.get("trained", True) is True
    assert entry.get("golds", "any") in GOLDS
    assert entry.get("mentions", 1) > 0


def test_no_figure_comes_twice_and_every_paper_is_spoken_of():
    keys = [
        tuple(entry[key] for key in ("system", "set", "protocol", "metric", "source"))
        for entry in KNOWN["figures"]
    ]
    assert len(keys) == len(set(keys))
    spoken = {entry["paper"] for entry in KNOWN["figures"]}
    assert all(paper in spoken or paper in str(KNOWN["not_found"]) for paper in KNOWN["papers"])


def figures(group: str, protocol: str = "full", mentions: int = 1000, **more: object) -> dict:
    systems = {"exact": {group: {"acc@1_names": 12.34, "n": mentions}}}
    return {"protocol": protocol, "systems": systems, "further_protocols": {}, **more}


def rows_of(shown: dict, **options: object) -> list[tuple]:
    blocks = list(published_section(shown, **options))
    return list(next(block for block in blocks if isinstance(block, Table)).rows)


def test_published_figures_stand_beside_ours():
    (row,) = rows_of(figures("xlbel_en"))
    assert row[1].endswith("(second-hand)")
    assert row[3:5] == ("78.7", "exact 12.3")
    assert row[5] == "no: their dictionary is the paper's, ours not said"
    (row,) = rows_of(figures("xlbel_en", mentions=90), release="the paper's")
    assert row[5] == "no: theirs are 1000 mentions, ours 90"
    (row,) = rows_of(figures("xlbel_en"), release="the paper's")
    assert row[5] == "yes"
    said = [b.text for b in published_section(figures("xlbel_en")) if isinstance(b, Text)]
    assert any("BERGAMOT: Tables 1 to 6" in text for text in said)


def test_sets_by_another_name_other_protocols_and_unknown_sets():
    assert {row[0] for row in rows_of(figures("mine"), sets={"mine": "NCBI"})} == {"mine"}
    (row,) = rows_of(figures("xlbel_en", "filtered"))
    assert row[4] == "protocol not run"
    assert not list(published_section(figures("invented")))
    assert comparable({"dictionary": "UMLS 2020AB"}, "UMLS 2020AA", 5).startswith("no")


def test_what_was_trained_on_the_set_is_not_compared():
    rows = rows_of(figures("ncbi"), release="the paper's")
    assert {row[5] for row in rows if row[1].startswith("SapBERT")} == {"yes"}
    trained = [row for row in rows if row[1].startswith("ANGEL")]
    assert trained
    assert {row[5] for row in trained} == {"no: theirs is trained on the set's own training part"}
    assert not trained[0][1].endswith("(second-hand)")


def test_how_several_golds_count_is_compared_and_a_metric_may_be_missing():
    release = "DisTEMIST's gazetteer, with names of UMLS 2022AA"
    first = rows_of(figures("distemist"), release=release)[0]
    assert first[4:6] == ("metric not computed", "no: of several golds theirs count each, ours any")
    first = rows_of(figures("distemist", golds="each"), release=release)[0]
    assert first[5] == "yes"


def test_a_named_set_without_mentions():
    (row, *_) = next(
        block for block in published_section(figures("mine"), sets={"other": "NCBI"})
        if isinstance(block, Table)
    ).rows  # fmt: skip
    assert row[4] == "set without mentions"
