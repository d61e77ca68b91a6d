"""Documents as pieces and units, and the windows in which they are read."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from spacy_bergamot.encoder.text_encoder import open_tokenizer
from spacy_bergamot.finder.pieces import Pieces, read_pieces, windows_of
from spacy_bergamot.mentions.reading import reading
from spacy_bergamot.mentions.units import units_of

NLP = spacy.blank("xx")


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return open_tokenizer(folder, 1 << 31)


@pytest.mark.parametrize(
    "text", ["", " ", "fever, heart attack (MI)", "高血圧とfever", "x\n\nfever"]
)
def test_a_unit_begins_with_its_first_piece(tokenizer: Tokenizer, text: str):
    doc = NLP.make_doc(text)
    pieces = read_pieces(doc, tokenizer)
    found = tokenizer.encode(text, add_special_tokens=False)
    assert pieces.ids.tolist() == found.ids
    assert (np.diff(pieces.firsts) > 0).all()
    starts = units_of(reading(doc)).starts.tolist()
    assert pieces.starts.tolist() == [n for n in starts if n in pieces.starts]
    assert pieces.starts.tolist()[:1] == starts[:1]
    for first, start in zip(pieces.firsts.tolist(), pieces.starts.tolist(), strict=True):
        assert found.offsets[first][0] <= start < found.offsets[first][1]


def test_the_mark_of_a_word_is_no_piece_to_read_a_tag_from():
    vocabulary = [
        ("<unk>", 0.0),
        ("\u2581", -1.0),
        ("\u2581痛", -1.0),
        ("急性", -2.0),
        ("痛", -3.0),
    ]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces = read_pieces(NLP.make_doc("急性痛 痛"), tokenizer)
    found = tokenizer.encode("急性痛 痛", add_special_tokens=False)
    assert found.tokens == ["\u2581", "急性", "痛", "\u2581痛"]
    assert [found.tokens[first] for first in pieces.firsts] == ["急性", "痛", "\u2581痛"]
    assert pieces.starts.tolist() == [0, 2, 4]


@pytest.mark.parametrize("text", ["fe-\nver", "fe\u00adver", "fe\u00ad\nver"])
def test_a_broken_word_is_read_whole(tokenizer: Tokenizer, text: str):
    doc = NLP.make_doc(f"fever {text}, cold")
    pieces = read_pieces(doc, tokenizer)
    whole = read_pieces(NLP.make_doc("fever fever, cold"), tokenizer)
    assert pieces.ids.tolist() == whole.ids.tolist()
    places = zip(pieces.starts, pieces.ends, strict=True)
    assert [doc.text[start:end] for start, end in places] == ["fever", text, ",", "cold"]


STRETCH = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=6), STRETCH)
def test_units_of_a_stretch_share_a_character_with_it(sizes, stretch):
    places, end = [], 0
    for gap, size in sizes:
        places.append((end + gap, end + gap + size))
        end += gap + size
    starts, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
    pieces = Pieces(np.arange(len(places)), np.arange(len(places)), starts, ends)
    start, stop = stretch
    shared = [n for n, (a, b) in enumerate(places) if a < stop and start < b]
    chosen = pieces.units(start, stop)
    if start < stop:
        assert list(range(len(places)))[chosen] == shared
    if shared:
        assert pieces.characters(shared[0], shared[-1] + 1) == (
            places[shared[0]][0], places[shared[-1]][1]
        )  # fmt: skip


@pytest.mark.parametrize(("size", "context"), [(16, 4), (10, 0), (7, 3), (1000, 100)])
def test_windows_decide_on_every_unit_once(tokenizer, size, context):
    doc = NLP.make_doc("高血圧とfever and acetylsalicylic acid、MRI " * 9)
    pieces = read_pieces(doc, tokenizer)
    windows = list(windows_of(pieces, size=size, context=context))
    units = [unit for window in windows for unit in range(*window.units.indices(1 << 30))]
    assert units == list(range(len(pieces.firsts)))
    for window in windows:
        assert window.pieces.stop - window.pieces.start <= size
        firsts = pieces.firsts[window.units]
        assert window.pieces.start <= firsts[0] <= firsts[-1] < window.pieces.stop
        behind = len(pieces.ids) - 1 - firsts[-1]
        assert firsts[0] - window.pieces.start >= min(context, firsts[0])
        assert window.pieces.stop - 1 - firsts[-1] >= min(context, behind)
