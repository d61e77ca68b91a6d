import json
import re
from collections import Counter

import pytest

from training.evaluate.metrics import GOLDS
from training.evaluate.report.blocks import Heading, Table, Text, to_html, to_markdown
from training.evaluate.report.published import (
    PATH,
    comparable,
    published_figures,
    published_section,
)


def without_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """JSON's reader keeps the last of two equal keys, and says nothing."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


KNOWN = json.loads(PATH.read_text(encoding="utf8"), object_pairs_hook=without_repeated_keys)
FIGURES = published_figures()
NEEDED = {
    "paper", "system", "set", "protocol", "metric", "value", "dictionary", "source", "trained",
    "secondary",
}  # fmt: skip
OPTIONAL = {"table", "mentions", "golds", "note"}


@pytest.mark.parametrize("paper", KNOWN["papers"])
def test_every_figure_says_what_it_is_and_where_it_was_read(paper: str):
    figures = [entry for entry in FIGURES if entry["paper"] == paper]
    assert figures
    for entry in figures:
        assert set(entry) - OPTIONAL == NEEDED, entry
        assert re.match(r"https://\S+$", entry["source"]), entry
        assert all(entry[key] for key in ("system", "set", "dictionary", "protocol")), entry
        assert KNOWN["metrics"][entry["metric"]].startswith("percent; "), entry
        assert 0 <= entry["value"] <= 100, entry
        assert isinstance(entry["trained"], bool), entry
        assert isinstance(entry["secondary"], bool), entry
        assert entry.get("golds", "any") in GOLDS, entry
        assert entry.get("mentions", 1) > 0, entry
        assert entry.get("note", "said"), entry


def test_no_figure_comes_twice_and_nothing_is_described_in_vain():
    keys = Counter(
        tuple(entry[key] for key in ("system", "set", "protocol", "metric", "source"))
        for entry in FIGURES
    )
    assert [key for key, times in keys.items() if times > 1] == []
    assert {entry["paper"] for entry in FIGURES} == set(KNOWN["papers"])
    assert {entry["metric"] for entry in FIGURES} == set(KNOWN["metrics"])
    assert len(FIGURES) == sum(
        len(row["values"]) for head in KNOWN["tables"] for row in head["rows"]
    )


def value_of(**wanted: object) -> float:
    (found,) = (e["value"] for e in FIGURES if wanted.items() <= e.items())
    return found


def test_sapbert_zero_shot_and_fine_tuned_are_told_apart():
    """Each in its paper's Table 1, where both were once one second-hand row."""
    for group, zero_shot, tuned in (("NCBI", 92.0, 92.3), ("COMETA", 65.9, 75.1),
                                    ("AskAPatient", 70.5, 89.0)):  # fmt: skip
        here = {"paper": "SapBERT", "set": group, "metric": "acc@1_names", "secondary": False}
        system = "SapBERT from PubMedBERT"
        assert value_of(**here, system=system, trained=False) == zero_shot
        assert value_of(**here, system=f"{system}, fine-tuned", trained=True) == tuned
    assert not any("wizwand" in entry["source"] for entry in FIGURES)
    filtered = {"system": "GAT-BERGAMOT", "set": "Mantra mean of 5", "protocol": "filtered"}
    assert value_of(**filtered, metric="acc@1_names") == 77.93


def figures(group: str, protocol: str = "full", mentions: int = 1000, **more: object) -> dict:
    systems = {"exact": {group: {"acc@1_names": 12.34, "n": mentions}}}
    return {"protocol": protocol, "systems": systems, "further_protocols": {}, **more}


def tables_of(shown: dict, **options: object) -> list[Table]:
    """Return the tables of figures, without that of the metrics."""
    blocks = published_section(shown, **options)
    return [block for block in blocks if isinstance(block, Table)][1:]


def rows_of(shown: dict, said: str = "", **options: object) -> list[tuple]:
    """Return caption, label, value and whether it compares, of the labels with `said` in them."""
    rows = [(t.caption, *row[:3]) for t in tables_of(shown, **options) for row in t.rows]
    return [row for row in rows if said in row[1]]


WIKIMED = "UMLS names of the concepts in WikiMed: 62,531 concepts, 399,931 names"


def test_published_figures_stand_beside_ours():
    shown, said = figures("xlbel_en"), "SapBERT (PubMedBERT), English synonyms"
    first, second = rows_of(shown, said)
    assert first[0] == "full, acc@1_names; ours: exact 12.3"
    assert first[1:3] == (f"XL-BEL, Table 2: {said}", "78.7")
    assert first[3] == f"no: their dictionary is {WIKIMED}, ours not said"
    assert second[0] == "full, acc@5_names; ours: metric not computed"
    assert second[2] == "81.6"
    first, _ = rows_of(figures("xlbel_en", mentions=90), said, release=WIKIMED)
    assert first[3] == "no: theirs are 1000 mentions, ours 90"
    first, _ = rows_of(shown, said, release=WIKIMED)
    assert first[3] == "yes"
    texts = [b.text for b in published_section(shown) if isinstance(b, Text)]
    assert any(f"of the {len(FIGURES)} figures" in text for text in texts)
    assert any("Medical Crossing" in text for text in texts)
    quoted, *_ = rows_of(figures("Mantra de"), "supervised SOTA")
    assert "(second-hand; quoted from Alekseev et al. 2022" in quoted[1]


def test_all_figures_of_a_set_are_shown_in_order():
    """Sorted by set, protocol, metric and value, and none left out."""
    values = {"acc@1_names": 1.0, "n": 5}
    full = {"exact": {"ncbi": values, "Mantra de": values}}
    shown = {"protocol": "full", "systems": full,
             "further_protocols": {"filtered": {"systems": {"exact": {}}}}}  # fmt: skip
    blocks = list(published_section(shown))
    counts = Counter(entry["set"] for entry in FIGURES)
    mantra, ncbi = counts["Mantra de"], counts["NCBI"]
    assert min(mantra, ncbi) > 20
    headings = [block.text for block in blocks if isinstance(block, Heading)]
    assert headings[1:] == [f"Mantra de: {mantra} published figures of Mantra de",
                            f"ncbi: {ncbi} published figures of NCBI"]  # fmt: skip
    tables = tables_of(shown)
    assert [table.caption for table in tables] == [
        "filtered, acc@1_names; ours: set without mentions",
        "filtered, acc@5_names; ours: set without mentions",
        "full, acc@1_names; ours: exact 1.0",
        "full, acc@5_names; ours: metric not computed",
        "full, acc@1_names; ours: exact 1.0",
        "full, acc@5_names; ours: metric not computed",
    ]
    assert sum(len(table.rows) for table in tables) == mantra + ncbi
    for table in tables:
        column = [float(row[1]) for row in table.rows]
        assert column == sorted(column, reverse=True)
    for text in (to_html("r", blocks), to_markdown("r", blocks)):
        assert text.count("supervised SOTA") == 6  # two of NCBI, four of Mantra


def test_sets_by_another_name_other_protocols_and_unknown_sets():
    blocks = published_section(figures("mine"), sets={"mine": "NCBI"})
    headings = [block.text for block in blocks if isinstance(block, Heading)]
    assert re.match(r"mine: \d+ published figures of NCBI$", headings[1])
    captions = {row[0] for row in rows_of(figures("xlbel_en", "filtered"))}
    assert captions == {f"full, acc@{k}_names; ours: protocol not run" for k in (1, 5)}
    assert not list(published_section(figures("invented")))
    assert comparable({"dictionary": "UMLS 2020AB"}, "UMLS 2020AA", 5).startswith("no")


def test_what_was_trained_on_the_set_is_not_compared():
    shown, reason = figures("ncbi"), "no: theirs is trained on the set's own training part"
    trained = rows_of(shown, "ANGEL", release="the paper's")
    assert {row[3] for row in trained} == {reason}
    assert not trained[0][1].endswith("(second-hand)")
    release = "MEDIC: 11,915 concepts, 71,923 names"
    rows = rows_of(figures("ncbi", mentions=960), "SapBERT, Table 1: SapBERT", release=release)
    why = {row[1].endswith("fine-tuned"): row[3] for row in rows}
    assert why == {True: reason, False: "yes"}


def test_how_several_golds_count_is_compared_and_a_metric_may_be_missing():
    """xMEN's precision, F1 and recall at 64 are known, and not among our figures."""
    release, said = "DisTEMIST's gazetteer, with names of UMLS 2022AA", "Table 4: TF-IDF and"
    rows = rows_of(figures("distemist"), said, release=release)
    assert [(row[0], row[2]) for row in rows] == [
        (f"full, {metric}; ours: metric not computed", value)
        for metric, value in (("acc@1", "41.8"), ("acc@64", "83.0"), ("f1@1", "42.6"),
                              ("p@1", "43.5"))
    ]  # fmt: skip
    assert {row[3] for row in rows} == {"no: of several golds theirs count each_shifted, ours any"}
    rows = rows_of(figures("distemist", golds="each_shifted"), said, release=release)
    assert {row[3] for row in rows} == {"yes"}
    described = next(b for b in published_section(figures("distemist")) if isinstance(b, Table))
    assert [row[0] for row in described.rows] == ["acc@1", "acc@64", "p@1", "f1@1"]


def test_a_named_set_without_mentions():
    rows = rows_of(figures("mine"), sets={"other": "NCBI"})
    assert {row[0].split("; ")[1] for row in rows} == {"ours: set without mentions"}
