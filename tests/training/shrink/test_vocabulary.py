"""What stays of a vocabulary: names keep their vectors, other words fall back to smaller pieces."""

import json
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder
from tests.training.shrink.conftest import NAMES, UNUSED, letters, write_unigram
from training.errors import BergamotError
from training.shrink.run import shrink
from training.shrink.vocabulary import Vocabulary


def pieces_of(encoder: TextEncoder, name: str) -> list[str]:
    return encoder.tokenizer.encode(name).tokens


def is_known(encoder: TextEncoder, name: str) -> bool:
    return not {"<unk>", "[UNK]"} & set(pieces_of(encoder, name))


def cut(lm: Path, concepts: Path | None, output: Path, **options: object) -> TextEncoder:
    vocabulary = Vocabulary("cut", names=concepts, **options)  # type: ignore[arg-type]
    facts = shrink(lm, output, dtype="fp32", vocabulary=vocabulary)
    encoder = TextEncoder.open(output)
    assert facts["pieces"] == encoder.tokenizer.get_vocab_size()
    assert (
        facts["pieces"] < facts["pieces_before"] == TextEncoder.open(lm).tokenizer.get_vocab_size()
    )
    return encoder


def test_names_keep_pieces_and_vectors(lm: Path, concepts: Path, tmp_path: Path):
    before, after = TextEncoder.open(lm), cut(lm, concepts, tmp_path / "small")
    assert [pieces_of(after, name) for name in NAMES] == [pieces_of(before, name) for name in NAMES]
    assert before.tokenize(NAMES) != after.tokenize(NAMES)
    np.testing.assert_allclose(after.encode(NAMES), before.encode(NAMES), atol=1e-6)


def test_other_words_fall_back_to_smaller_pieces(lm: Path, concepts: Path, tmp_path: Path):
    before, after = TextEncoder.open(lm), cut(lm, concepts, tmp_path / "small")
    assert all(is_known(before, word) and is_known(after, word) for word in UNUSED)
    assert len(pieces_of(after, "болезнь")) > len(pieces_of(before, "болезнь"))
    for letter in letters():
        assert is_known(after, letter)
        assert is_known(after, f"a{letter}")
    # Of ξ there is no piece but this one.
    assert pieces_of(after, "ξy") == pieces_of(before, "ξy")


def test_texts_count_as_names_do(lm: Path, concepts: Path, tmp_path: Path):
    folder = tmp_path / "texts/deep"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("ein HERZKLOPFEN\n", "utf8")
    before = TextEncoder.open(lm)
    for number, path in enumerate([folder / "a.txt", tmp_path / "texts"]):
        after = cut(lm, concepts, tmp_path / f"small{number}", texts=[path])
        assert pieces_of(after, "herzklopfen") == pieces_of(before, "herzklopfen")
        np.testing.assert_allclose(after.encode(NAMES), before.encode(NAMES), atol=1e-6)
    alone = cut(lm, None, tmp_path / "alone", texts=[folder])
    assert pieces_of(alone, "herzklopfen") == pieces_of(before, "herzklopfen")
    assert pieces_of(alone, "diabetes") != pieces_of(before, "diabetes")


def test_scripts_stay_whole(lm: Path, concepts: Path, tmp_path: Path):
    before, after = TextEncoder.open(lm), cut(lm, concepts, tmp_path / "s", scripts=["Thai"])
    assert pieces_of(after, "ปวดหัว") == pieces_of(before, "ปวดหัว")
    assert pieces_of(after, "болезнь") != pieces_of(before, "болезнь")
    with pytest.raises(BergamotError, match=r"B014.*klingon.*cyrillic.*thai"):
        cut(lm, concepts, tmp_path / "t", scripts=["klingon"])


def test_reachable_leaves_out_capitals_alone(lm: Path, tmp_path: Path):
    facts = shrink(lm, tmp_path / "s", dtype="fp32", vocabulary=Vocabulary("reachable"))
    before, after = TextEncoder.open(lm), TextEncoder.open(tmp_path / "s")
    lost = before.tokenizer.get_vocab().keys() - after.tokenizer.get_vocab().keys()
    assert {"Klopf"} < lost <= {"Herz", "Klopf", *(f"[unused{n}]" for n in range(9))}
    assert facts["pieces_before"] - facts["pieces"] == len(lost)
    texts = [*NAMES, *UNUSED, "Herz KLOPFEN"]
    np.testing.assert_allclose(after.encode(texts), before.encode(texts), atol=1e-6)


def test_a_larger_size_adds_the_most_probable(lm: Path, concepts: Path, tmp_path: Path):
    used = cut(lm, concepts, tmp_path / "used")
    size = used.tokenizer.get_vocab_size()
    more = cut(lm, concepts, tmp_path / "more", size=size + 2)
    added = more.tokenizer.get_vocab().keys() - used.tokenizer.get_vocab().keys()
    assert added in ({"▁herzklopfen", "▁klopf"}, {"herzklopfen", "klopf"})


def test_a_smaller_size_loses_the_rarest(lm: Path, concepts: Path, tmp_path: Path):
    used = cut(lm, concepts, tmp_path / "used")
    vocabulary = used.tokenizer.get_vocab()
    text = tmp_path / "a.txt"
    text.write_text("\n".join(name for name in NAMES if name != "insulin"), "utf8")
    less = cut(lm, concepts, tmp_path / "less", size=len(vocabulary) - 1, texts=[text])
    assert vocabulary.keys() - less.tokenizer.get_vocab().keys() in ({"▁insulin"}, {"insulin"})
    assert is_known(less, "insulin")
    with pytest.raises(BergamotError, match=r"T234.*of 9 pieces.*are \d+"):
        cut(lm, concepts, tmp_path / "none", size=9)
    assert not (tmp_path / "none").exists()


def test_names_as_written_where_case_counts(unigram: Path, concepts: Path, tmp_path: Path):
    settings = json.loads((unigram / "bergamot.json").read_text())
    (unigram / "bergamot.json").write_text(json.dumps({**settings, "lowercase": False}))
    text = tmp_path / "a.txt"
    text.write_text("ein Herz\n", "utf8")
    after = cut(unigram, concepts, tmp_path / "small", texts=[text])
    assert "Herz" in pieces_of(after, "Herz")
    assert "Klopf" not in pieces_of(after, "Klopf")


def test_positions_of_roberta_stay(tmp_path: Path, concepts: Path):
    lm = write_unigram(tmp_path / "lm")
    after = cut(lm, concepts, tmp_path / "small")
    assert after.model.embeddings.padding_idx == after.model.config.pad_token_id == 2
    assert after.tokenizer.token_to_id("<pad>") == 2


@pytest.mark.parametrize(
    ("kind", "options", "code"),
    [
        ("cut", {}, "T231"),
        ("cut", {"scripts": ["thai"], "size": 900}, "T231"),
        ("keep", {"names": Path("kb")}, "T231"),
        ("reachable", {"size": 9}, "T231"),
        ("most", {}, "B014"),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, options: dict, code: str):
    with pytest.raises(BergamotError, match=code):
        Vocabulary(kind, **options)


def test_missing_texts_are_named(unigram: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    for path, code in ((tmp_path / "empty", "T296"), (tmp_path / "none.txt", "B001")):
        with pytest.raises(BergamotError, match=f"{code}.*{path.name}"):
            cut(unigram, None, tmp_path / "small", texts=[path])
    assert not list(tmp_path.glob("*small*"))
