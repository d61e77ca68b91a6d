"""Corpora in another language: offsets cut out their mentions, and what is lost is counted."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from training.__main__ import app
from training.corpora.builder import CorpusBuilder
from training.corpora.schema import Corpus
from training.errors import BergamotError
from training.translate.marks import FORMS, marked, numbered, read_back, rounds
from training.translate.run import Remembered, translate_corpus
from training.translate.search import find_all
from training.translate.sentences import Splitter
from training.translate.translators import load_translator

TEXT = "He has breast cancer [1] and fever. No  acute heart attack today.\n\nEnd."
MENTIONS = {"breast cancer": "C1", "breast": "C2", "fever": "C3", "acute heart attack": "C4",
            "heart attack today": "C5"}  # fmt: skip
WORDS = {"fever": "fièvre", "heart": "cœur", "breast cancer": "cancer du sein", "He has": "Il a"}


def corpus_of(text: str, mentions: dict[str, str]) -> Corpus:
    builder = CorpusBuilder("it", "ENG")
    builder.document("d", text)
    for mention, concept in mentions.items():
        start = text.index(mention)
        span = (start, start + len(mention))
        builder.mention("d", mention, [concept], place="", spans=[span], type="DISO")
    return builder.build()


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


def write_marian(folder: Path) -> Path:
    """Write a tiny Marian with random weights, and the SentencePiece models that it needs."""
    import sentencepiece
    import torch
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    (folder / "text.txt").write_text("\n".join([TEXT.replace("\n", " "), *WORDS, *WORDS.values()]))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "source"), vocab_size=45,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    model = (folder / "source.model").read_bytes()
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.model"))
    known = [pieces.id_to_piece(number) for number in range(len(pieces))]
    ids = {piece: number for number, piece in enumerate(dict.fromkeys(["</s>", *known, "<pad>"]))}
    (folder / "vocab.json").write_text(json.dumps(ids))
    tokenizer = MarianTokenizer(
        source_spm=str(folder / "source.spm"), target_spm=str(folder / "target.spm"),
        vocab=str(folder / "vocab.json"),
    )  # fmt: skip
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(ids), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, max_position_embeddings=256, pad_token_id=ids["<pad>"],
        eos_token_id=0, decoder_start_token_id=ids["<pad>"], forced_eos_token_id=0,
    )  # fmt: skip
    MarianMTModel(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    return folder / "model"


@pytest.mark.filterwarnings("ignore:Recommended")
@pytest.mark.parametrize("project", ["marks", "search"])
def test_a_random_marian_gives_a_corpus_whose_losses_are_counted(tmp_path: Path, project: str):
    pytest.importorskip("sentencepiece")
    model = write_marian(tmp_path)
    corpus_of(TEXT, MENTIONS).write(tmp_path / "corpus")
    words = ["translate", tmp_path / "corpus", tmp_path / "out", "--translator", f"hf:{model}",
             "--target", "fr", "--project", project]  # fmt: skip
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.exception
    made = Corpus.open(tmp_path / "out")
    facts = made.facts["translation"]
    counted = sum(facts["counts"].values()) - facts["counts"].get("marks that nobody had set", 0)
    assert facts["mentions"] == 5 == made.mentions.num_rows + counted
    assert f"{made.mentions.num_rows} of 5 mentions kept" in done.output
    text = made.documents.to_pylist()[0]["text"]
    for row in made.mentions.to_pylist():
        assert " ".join(text[row["starts"][0] : row["ends"][0]].split()) == row["mention"]


def test_the_command_takes_a_function_of_ones_own(tmp_path: Path, monkeypatch):
    (tmp_path / "own_translator.py").write_text(
        "def shout(texts): return [t.upper() for t in texts]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    corpus_of(TEXT, MENTIONS).write(tmp_path / "corpus")
    words = ["translate", tmp_path / "corpus", tmp_path / "out", "--translator",
             "own_translator:shout", "--target", "de", "--marks", "xml"]  # fmt: skip
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.exception
    assert "5 of 5 mentions kept, 0.00 % lost" in done.output
    rows = Corpus.open(tmp_path / "out").mentions.to_pylist()
    assert {row["mention"] for row in rows} == {mention.upper() for mention in MENTIONS}
    assert {row["language"] for row in rows} == {"GER"}
    sys.modules.pop("own_translator")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--translator", "hf:nothing", "--target", "fr"], "T285.*config.json"),
        (["--translator", "nothing:f", "--target", "fr"], "T285.*nothing"),
        (["--translator", "json:nothing", "--target", "fr"], "T285.*nothing"),
        (["--translator", "json", "--target", "fr"], "T285"),
        (["--translator", "json:dumps", "--target", "fr"], "T287.*str"),
        (["--translator", "json:dumps", "--target", "xyz"], "T125"),
        (["--translator", "json:dumps", "--target", "fr", "--marks", "x"], "T288.*--marks.*xml"),
        (["--translator", "json:dumps", "--target", "fr", "--project", "x"], "T288.*search"),
    ],
)
def test_what_cannot_be_translated_says_why(tmp_path: Path, options: list[str], code: str):
    corpus_of(TEXT, MENTIONS).write(tmp_path / "corpus")
    words = ["translate", str(tmp_path / "corpus"), str(tmp_path / "out"), *options]
    with pytest.raises(BergamotError, match=code):
        raise CliRunner().invoke(app, words).exception
    assert not (tmp_path / "out").exists()


def test_a_language_that_a_model_lacks_is_refused(tmp_path: Path):
    from training.translate.translators import _token

    known = ["eng_Latn", "fra_Latn", "zho_Hans"]
    assert [_token(code, known, tmp_path) for code in ("en", "fr", "zh")] == known
    assert _token("de", ["__de__", "__fr__"], tmp_path) == "__de__"
    with pytest.raises(BergamotError, match=r"T286.*'xx'.*eng_Latn"):
        _token("xx", known, tmp_path)
    with pytest.raises(BergamotError, match="T285"):
        load_translator("hf:", source="en", target="fr")
