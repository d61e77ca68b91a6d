"""Corpora in another language: offsets cut out their mentions, and what is lost is counted."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.translate.texts import MENTIONS, TEXT, WORDS, corpus_of
from training.corpora.schema import Corpus
from training.translate.marks import FORMS, marked, numbered, read_back, rounds
from training.translate.run import Remembered, translate_corpus
from training.translate.search import find_all
from training.translate.sentences import Splitter


def translated(
    translate: Callable, corpus: Corpus | None = None, *, marks: str = "brackets", project="marks"
) -> tuple[str, dict[str, str], dict]:
    """Return text, {concept: mention} and counts; every offset cuts out its mention."""
    corpus = corpus or corpus_of(TEXT, MENTIONS)
    made, facts = translate_corpus(corpus, translate, target="fr", marks=marks, project=project)
    (document,) = made.documents.to_pylist()
    assert document["language"] == "FRE"
    found = {}
    for row in made.mentions.to_pylist():
        cut = document["text"][row["starts"][0] : row["ends"][0]]
        assert " ".join(cut.split()) == row["mention"]
        assert row["mention"] == row["mention"].strip() != ""
        assert (row["type"], row["language"]) == ("DISO", "FRE")
        found[row["concepts"][0]] = row["mention"]
    assert facts["kept"] == len(found)
    return document["text"], found, facts["counts"]


def each(change: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    return lambda texts: [change(text) for text in texts]


@pytest.mark.parametrize("marks", FORMS)
def test_what_is_not_changed_comes_back_as_it_was(marks: str):
    """Nested mentions, crossing ones, and what looks like a mark in the text."""
    text, found, counts = translated(each(str), marks=marks)
    assert text == TEXT
    assert {concept: mention for mention, concept in MENTIONS.items()} == found
    assert counts == {}


@pytest.mark.parametrize("marks", FORMS)
def test_a_sentence_in_another_order_has_its_mentions_elsewhere(marks: str):
    groups = r"\[(\d)\].*?\[/\1\]|<m(\d)>.*?</m\2>"

    def turned(text: str) -> str:
        pieces = [found[0] for found in re.finditer(groups, text)]
        return " et ".join(reversed(pieces)) if pieces else text

    corpus = corpus_of("With fever and acute zeal or cough.", {"fever": "A", "acute zeal": "B",
                       "cough": "C"})  # fmt: skip
    text, found, _ = translated(each(turned), corpus, marks=marks)
    assert text == "cough et acute zeal et fever"
    assert found == {"A": "fever", "B": "acute zeal", "C": "cough"}


def test_words_are_replaced_between_marks():
    def french(text: str) -> str:
        for word, other in WORDS.items():
            text = text.replace(word, other)
        return text

    text, found, _ = translated(each(french))
    assert found["C3"] == "fièvre"
    assert found["C4"] == "acute cœur attack"
    assert text.startswith("Il a ")


@pytest.mark.parametrize(
    ("change", "kept", "counts"),
    [
        (lambda t: re.sub(r"\[/?2\]", "", t), "C1 C3", {"mark dropped": 1}),
        (lambda t: t.replace("[/2]", ""), "C1 C3", {"mark unclosed": 1}),
        (lambda t: t.replace("[2]", ""), "C1 C3", {"mark unclosed": 1}),
        (lambda t: t.replace("[2]", "[2][2]"), "C1 C3", {"mark repeated": 1}),
        (lambda t: t.replace("[2]", "@").replace("[/2]", "[2]").replace("@", "[/2]"), "C1 C3",
         {"mark reversed": 1}),
        (lambda t: t.replace("[2]breast", "[2] "), "C1 C3", {"mark empty": 1}),
        (lambda t: f"{t} [77]", "C1 C2 C3", {"marks that nobody had set": 1}),
        (lambda t: t.replace("[", "［ ").replace("]", " ］"), "C1 C2 C3", {}),
        (lambda t: t.replace("[/", "[ / ").replace("[2]", "[2"), "C1 C2 C3", {}),
        (lambda t: t.replace("[3]", "[3] ").replace("[/3]", " [/3] "), "C1 C2 C3", {}),
        (lambda t: re.sub(r"\D", "", t), "", {"mark dropped": 3}),
        (lambda t: "", "", {"mark dropped": 3}),
    ],
)  # fmt: skip
def test_marks_are_read_back_tolerantly_and_losses_are_counted(change, kept, counts):
    mentions = {"breast cancer": "C1", "breast": "C2", "fever": "C3"}
    corpus = corpus_of("He has breast cancer and fever.", mentions)
    text, found, counted = translated(each(change), corpus)
    assert " ".join(sorted(found)) == kept
    assert counted == counts
    assert not set("[]［］") & set(text)
    assert "  " not in text


def test_marks_lie_in_one_another():
    spans = {1: (4, 5), 2: (0, 1), 3: (0, 5), 4: (1, 4)}
    assert marked("a b c", spans, FORMS["xml"]) == ("<m3><m2>a</m2><m4> b </m4><m1>c</m1></m3>")


def test_what_looked_like_a_mark_stays():
    corpus = corpus_of("See [2] and [7]: fever.", {"fever": "C"})
    assert translated(each(str), corpus)[0] == "See [2] and [7]: fever."
    asked = []
    translated(lambda texts: asked.extend(texts) or texts, corpus)
    assert asked == ["See [2] and [7]: [8]fever[/8]."]


def test_crossing_mentions_are_translated_twice_and_looked_for_if_the_words_differ():
    corpus = corpus_of("A severe heart attack today.", {"severe heart": "A", "heart attack": "B"})

    def two(texts: list[str]) -> list[str]:
        assert len(texts) == 2
        return ["Une [1]cardiaque sévère[/1] crise", "Voilà une [1]crise[/1] de cœur"]

    text, found, counts = translated(two, corpus)
    assert (text, found) == ("Une cardiaque sévère crise", {"A": "cardiaque sévère", "B": "crise"})
    text, found, counts = translated(lambda texts: [two(texts)[0], "[1]rien[/1]"], corpus)
    assert found == {"A": "cardiaque sévère"}
    assert counts == {"crosses another, and was translated otherwise": 1}


def test_a_mention_is_never_cut_by_a_sentence():
    text = "Vitamin B. deficiency is rare. Dr. Who said so. "
    corpus = corpus_of(text, {"Vitamin B. deficiency": "A"})
    assert translated(each(str), corpus)[1] == {"A": "Vitamin B. deficiency"}
    (first, *others) = Splitter()(text, [(0, 21)], "ENG")
    assert first.text == "Vitamin B. deficiency is rare."
    assert len(others) >= 1


SPANS = st.lists(
    st.tuples(st.integers(0, 18), st.integers(1, 19)).filter(lambda s: s[0] < s[1]), max_size=6
)


@given(SPANS, st.sampled_from(sorted(FORMS)))
def test_any_spans_come_back(spans, form):
    text = "abc def [3] ghi <m4> jkl"[:19]
    form = FORMS[form]
    for chosen in rounds(spans):
        numbers = numbered(chosen, text, form)
        looks = {int(found["number"]) for found in form.pattern.finditer(text)}
        read = read_back(marked(text, numbers, form), set(numbers), form, kept=looks)
        assert read.text == text
        for number, (start, end) in numbers.items():
            inside = text[start:end]
            if inside.strip():
                a, z = read.spans[number]
                assert text[a:z] == inside.strip()
    assert {span for chosen in rounds(spans) for span in chosen} == set(spans)


def test_mentions_are_looked_for_exactly_then_nearly():
    text = "La Fièvre et les cancers du sein, puis fièvre; un cancer."
    found = find_all(["fièvre", "cancer du sein", "fièvre", "cancer", "zona", ""], text)
    cut = [None if span is None else text[slice(*span)] for span in found]
    assert cut == ["Fièvre", "cancers du sein", "fièvre", "cancer", None, None]
    assert found[3] == (text.rindex("cancer"), len(text) - 1)


def test_mentions_translated_alone_are_looked_for_in_the_sentence():
    known = {"He has fever and breast cancer.": "Il a de la fièvre et des cancers du sein.",
             "fever": "Fièvre.", "breast cancer": "cancer du sein", "He": "Elle"}  # fmt: skip
    corpus = corpus_of("He has fever and breast cancer.", {"fever": "A", "breast cancer": "B",
                       "He": "C"})  # fmt: skip
    _, found, counts = translated(each(known.__getitem__), corpus, project="search")
    assert found == {"A": "fièvre", "B": "cancers du sein"}
    assert counts == {"not found in the translation": 1}


def test_a_killed_run_goes_on(tmp_path: Path):
    asked: list[str] = []

    def failing(texts: list[str]) -> list[str]:
        asked.extend(texts)
        if len(asked) > 40:
            raise KeyboardInterrupt
        return texts

    path = tmp_path / "kept.jsonl"
    texts = [f"text {number:03}" for number in range(50)]
    with pytest.raises(KeyboardInterrupt):
        Remembered(failing, path)(texts)
    path.write_text(path.read_text("utf8") + '\n["text 0', "utf8")
    done = set(asked[:32])
    asked.clear()
    assert Remembered(lambda new: asked.extend(new) or new, path)(texts) == texts
    assert set(asked) == set(texts) - done
