"""Scores of links: as plain loops count them, missed mentions included."""

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_bergamot.pipeline.scorer import score_linking

NLP = spacy.blank("xx")
NLP.add_pipe("bergamot_linker")  # which registers the extensions
IDS = ["C1", "C2", "NIL"]
MENTIONS = st.dictionaries(st.integers(0, 5), st.sampled_from(IDS))
GOLDS = st.dictionaries(st.integers(0, 5), st.sampled_from([*IDS, "C1|C2", "C2|C3"]))
PROPOSED = st.dictionaries(st.integers(0, 5), st.permutations(["C1", "C2", "C3"]))


def marked(links: dict[int, str], key: str | None, proposed: dict[int, list[str]]) -> Doc:
    """Return a document whose words are mentions with concept ids and candidates."""
    doc = Doc(NLP.vocab, list("abcdef"))
    spans = [Span(doc, word, word + 1, label="X", kb_id=of) for word, of in sorted(links.items())]
    if key:
        doc.spans[key] = spans
    else:
        doc.ents = spans
    for span in spans:
        span._.candidates = [{"concept_id": of} for of in proposed.get(span.start, [])]
    return doc


@settings(max_examples=50)
@given(st.lists(st.tuples(GOLDS, MENTIONS, PROPOSED), max_size=3), st.sampled_from([None, "sc"]))
def test_scores_are_those_of_plain_loops(documents, key: str | None):
    examples = [
        Example(marked(guesses, key, proposed), marked(golds, key, {}))
        for golds, guesses, proposed in documents
    ]
    scores = score_linking(examples, spans_key=key)
    pairs = [
        (golds[word].split("|"), guesses[word], proposed.get(word, []))
        for golds, guesses, proposed in documents
        for word in golds.keys() & guesses.keys()
    ]
    ranks = [
        min((proposed.index(one) for one in gold if one in proposed), default=None)
        for gold, _, proposed in pairs
        if gold != ["NIL"]
    ]
    for k in (1, 5, 10):
        hits = [rank is not None and rank < k for rank in ranks]
        assert scores[f"link_recall@{k}"] == (sum(hits) / len(hits) if hits else None)
    reciprocal = [0 if rank is None else 1 / (rank + 1) for rank in ranks]
    assert scores["link_mrr"] == pytest.approx(sum(reciprocal) / len(ranks) if ranks else None)
    assert scores["link_accuracy"] == scores["link_recall@1"]
    nil = [(gold == ["NIL"], guess == "NIL") for gold, guess, _ in pairs]
    for name, of in (("p", 1), ("r", 0)):
        of_kind = [all(one) for one in nil if one[of]]
        expected = sum(of_kind) / len(of_kind) if of_kind else None
        assert scores[f"link_nil_{name}"] == expected
    gold = [of for golds, _, _ in documents for of in golds.values() if of != "NIL"]
    predicted = [of for _, guesses, _ in documents for of in guesses.values() if of != "NIL"]
    right = sum(guess in gold for gold, guess, _ in pairs if gold != ["NIL"] and guess != "NIL")
    assert scores["link_end_to_end_p"] == (right / len(predicted) if predicted else None)
    assert scores["link_end_to_end_r"] == (right / len(gold) if gold else None)
    both = len(predicted) + len(gold)
    assert scores["link_end_to_end_f"] == pytest.approx(2 * right / both if both else 0)


def test_scores_count_missed_mentions(nlp):
    examples = []
    for text, gold in {"fever and aspirin": {"fever": "C10", "aspirin": "C08"},
                       "heart zzz": {"heart": "C06", "zzz": "C01"}}.items():  # fmt: skip
        reference = nlp.make_doc(text)
        reference.ents = [
            reference.char_span(text.index(m), text.index(m) + len(m), label="X", kb_id=c)
            for m, c in gold.items()
        ]
        examples.append(Example(nlp(text), reference))
    scores = nlp.get_pipe("bergamot_linker").score(examples)
    assert scores["link_accuracy"] == pytest.approx(2 / 3)
    assert scores["link_mrr"] == pytest.approx(2 / 3)
    assert scores["link_end_to_end_p"] == pytest.approx(2 / 3)
    assert scores["link_end_to_end_r"] == pytest.approx(2 / 4)
    assert "nel_micro_f" in scores


def test_either_of_two_gold_concepts_is_right_but_not_one_of_a_composite(nlp):
    text = "fever"
    for gold, right in {"C08|C10": 1, "C10|C08": 1, "C08|C01": 0, "C10+C08": 0}.items():
        reference = nlp.make_doc(text)
        reference.ents = [reference.char_span(0, len(text), label="X", kb_id=gold)]
        scores = nlp.get_pipe("bergamot_linker").score([Example(nlp(text), reference)])
        assert scores["link_accuracy"] == scores["link_end_to_end_f"] == right, gold
