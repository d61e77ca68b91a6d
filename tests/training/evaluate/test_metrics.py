"""Hand-worked examples: every choice changes a number here."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.generators import ExactGenerator, Generator, LexicalGenerator
from training.corpora.dictionary import Dictionary
from training.corpora.schema import GoldMention
from training.errors import BergamotError
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.indexes import NoLm, indexed, over
from training.evaluate.metrics import NEVER, gold_ranks, index_loss, nil_scores, tabulate
from training.evaluate.protocols import membership
from training.evaluate.ranking import Ranked, from_table, rank, to_table
from training.evaluate.run import within


def query(gold: str, mention: str = "m", group: str = "g", **fields) -> GoldMention:
    return GoldMention(mention, frozenset(filter(None, gold.split("|"))), group, **fields)


def ranked(concepts: str, name_ranks: list[int] | None = None, *, nil: bool = False) -> Ranked:
    found = concepts.split()
    ranks = name_ranks or list(range(len(found)))
    return Ranked(found, [1 - 0.1 * r for r in ranks], ranks, found, nil)


def ranked_by(
    generator: Generator, dictionary: Dictionary, mentions: list[str], k: int, **options
) -> list[Ranked]:
    with indexed(dictionary, NoLm()) as index:
        return rank(over(index, NoLm(), generator), mentions, k, **options)


def test_golds_of_one_place_are_looked_for_one_concept_further_each():
    """xMEN takes the first concept away from the second of identical annotations."""
    found = Ranked(["B", "A", "C"], [0.9, 0.8, 0.7], [0, 1, 2], ["b", "a", "c"], False)
    here, there = "<tgt>a</tgt> and a", "a and <tgt>a</tgt>"

    def ranks(*golds: tuple[set[str], str], document: str = "d") -> list[int]:
        queries = [
            GoldMention("a", frozenset(of), "g", document=document, context=context)
            for of, context in golds
        ]
        return gold_ranks(queries, [found] * len(queries), "each_shifted").concept.tolist()

    assert ranks(({"A"}, here)) == [1]
    assert ranks(({"A", "B"}, here)) == [1, NEVER]  # A from 0 on, then B from 1 on
    assert ranks(({"B"}, here), ({"A"}, here), ({"C"}, here)) == [0, 0, 0]
    assert ranks(({"B"}, here), ({"A"}, there)) == [0, 1]
    assert ranks(({"B"}, "a"), ({"A"}, "a")) == [0, 1]  # nobody knows where they are
    assert ranks(({"B"}, here), ({"Z"}, here)) == [0, NEVER]


def test_several_golds_count_as_they_are_told():
    queries = [query("A|B"), query("A|B", all_of=True), query("A|Z", all_of=True)]
    found = [ranked("X A B"), ranked("A B"), ranked("A B")]
    ranks = {golds: gold_ranks(queries, found, golds).concept for golds in ("any", "all")}
    assert ranks["any"].tolist() == [1, 0, 0]
    assert ranks["all"].tolist()[:2] == [2, 1]
    assert ranks["all"][2] > 10**6  # Z was not found
    assert gold_ranks(queries, found, "annotated").concept.tolist()[:2] == [1, 1]
    each = gold_ranks(queries, found, "each")
    assert each.owner.tolist() == [0, 0, 1, 1, 2, 2]
    assert each.concept.tolist()[:5] == [1, 2, 0, 1, 0]
    with pytest.raises(BergamotError, match="B014"):
        gold_ranks(queries, found, "some")


def test_names_and_concepts_are_counted_apart():
    # One name of three concepts, then another: B is the 2nd concept of the 1st name, D the 4th
    # concept of the 2nd name.
    found = [ranked("A B C D", [0, 0, 0, 1])] * 2
    table = tabulate([query("B"), query("D")], found, ks=(1, 2, 4))["micro"]
    assert [table[f"acc@{k}"] for k in (1, 2, 4)] == [0, 50, 100]
    assert [table[f"acc@{k}_names"] for k in (1, 2, 4)] == [50, 100, 100]
    assert table["mrr"] == pytest.approx(100 * (1 / 2 + 1 / 4) / 2)


def test_micro_weighs_mentions_and_macro_groups():
    queries = [query("A", group="a"), query("A", group="b"), query("B", group="b")]
    table = tabulate(queries, [ranked("A")] * 3, ks=(1,), samples=200)
    assert table["micro"]["acc@1"] == pytest.approx(200 / 3)
    assert table["macro"]["acc@1"] == pytest.approx(75)
    assert table["b"]["acc@1_low"] == 0
    assert table["b"]["acc@1_high"] == 100
    assert table["a"]["acc@1_low"] == table["a"]["acc@1_high"] == 100
    assert "acc@5_low" not in table["a"]
    wide = tabulate(queries, [ranked("A B")] * 3, ks=(1, 5), samples=200)
    assert wide["micro"]["acc@5_low"] == 100 > wide["micro"]["acc@1_low"]


def test_intervals_draw_documents_where_they_are_known():
    found = [ranked("A")] * 40

    def width(documents: Iterable[str]) -> float:
        queries = [
            GoldMention("a", frozenset({"A" if number < 20 else "B"}), "g", document=document)
            for number, document in enumerate(documents)
        ]
        table = tabulate(queries, found, ks=(1,), samples=500)["micro"]
        assert table["acc@1"] == 50
        return table["acc@1_high"] - table["acc@1_low"]

    assert width([""] * 40) == width(map(str, range(40)))
    assert width(str(number // 10) for number in range(40)) > 2 * width([""] * 40)


def test_ranking_keeps_every_concept_of_the_first_names():
    dictionary = Dictionary([("C1|C2|C3", "cold"), ("C4", "colds"), ("C5", "cold sore")])
    (found,) = ranked_by(LexicalGenerator(), dictionary, ["cold"], 1)
    assert found.concepts == ["C1", "C2", "C3"]
    assert found.name_ranks == [0, 0, 0]
    (found,) = ranked_by(LexicalGenerator(), dictionary, ["cold"], 2)
    assert found.concepts == ["C1", "C2", "C3", "C5"]  # two names, though two concepts were there
    assert tabulate([query("C5")], [found], ks=(2,))["micro"]["acc@2_names"] == 100
    (found,) = ranked_by(LexicalGenerator(), dictionary, ["cold"], 4)
    assert found.concepts[:4] == ["C1", "C2", "C3", "C5"]
    assert found.names[3] == "cold sore"
    assert found.scores[0] == pytest.approx(1)
    assert found.scores[3] < 1
    assert from_table(to_table([found]))[0].concepts == found.concepts


def test_nil_by_threshold():
    dictionary = Dictionary([("C1", "cold"), ("C2", "gout")])
    mentions = ["cold", "gouty", "zzz"]
    for threshold, nil in ((0.9, [False, True, True]), (None, [False, False, True])):
        found = ranked_by(LexicalGenerator(), dictionary, mentions, 1, threshold=threshold)
        assert [entry.nil for entry in found] == nil


def test_nil_precision_and_recall():
    queries = [query(""), query(""), query(""), query("A"), query("A")]
    said = [True, True, False, True, False]
    scores = nil_scores(queries, [ranked("A", nil=nil) for nil in said])
    assert (scores["nil_gold"], scores["nil_predicted"]) == (3, 3)
    assert scores["nil_p"] == pytest.approx(200 / 3)
    assert scores["nil_r"] == pytest.approx(200 / 3)
    assert nil_scores([query("A")], [ranked("A")])["nil_p"] is None


def test_golds_out_of_the_dictionary():
    dictionary = Dictionary([("A", "a"), ("B", "b")])
    queries = [query("A"), query("A|Z"), query("Z"), query("")]
    kept, outside = within(queries, dictionary, "drop")
    assert (kept, outside) == ([queries[0], queries[1], queries[3]], 1)
    kept, outside = within(queries, dictionary, "miss")
    assert (kept, outside) == (queries, 1)
    kept, _ = within(queries, dictionary, "nil")
    assert [bool(q.concepts) for q in kept] == [True, True, False, False]
    found = ranked_by(ExactGenerator(), dictionary, [q.mention for q in kept], 1)
    assert tabulate(kept, found)["micro"]["n"] == 2  # NIL is no part of accuracy
    with pytest.raises(BergamotError, match="B014"):
        within(queries, dictionary, "keep")


def test_protocols_by_training_queries():
    dictionary = Dictionary([("A", "a")])
    train = [query("A", "FLU "), query("B|C", "cold")]
    queries = [query("A", " Flu"), query("B", "other"), query("D", "cold"), query("D", "new")]
    kept = membership(queries, dictionary, "not_in_train", train=train)
    assert kept == [False, True, False, True]
    kept = membership(queries, dictionary, "zero_shot", train=train)
    assert kept == [False, False, True, True]
    with pytest.raises(BergamotError, match="T113"):
        membership(queries, dictionary, "zero_shot")
    with pytest.raises(BergamotError, match="B014"):
        membership(queries, dictionary, "most")


def test_credit_for_near_concepts(concepts: Path):
    # The fixture's only CHD row: the heart (C06) has the child C03.
    hierarchy = Hierarchy(ConceptTable.open(concepts))
    assert hierarchy.distance("C03", "C06") == hierarchy.distance("C06", "C03") == 1
    assert hierarchy.distance("C03", "C03") == hierarchy.distance("X", "X") == 0
    assert hierarchy.distance("C03", "C01") is None
    assert hierarchy.children("C06") == {"C03"}
    queries = [query("C03"), query("C03"), query("C03"), query("C03|C06")]
    found = [ranked("C03"), ranked("C06"), ranked("C01"), ranked("C06")]
    table = tabulate(queries, found, ks=(1,), hierarchy=hierarchy)["micro"]
    assert table["acc@1"] == pytest.approx(50)
    assert table["acc@1_tree"] == pytest.approx(100 * (1 + 1 / 2 + 0 + 1) / 4)


def test_index_loss_is_what_exact_search_found_and_the_index_did_not():
    exact = [ranked("A B C"), ranked("A B C"), ranked("")]
    loss = index_loss(exact, [ranked("A C X"), ranked("B A C"), ranked("A")], ks=(1, 2))
    assert loss == {"kept@1": 50, "kept@2": 75}
