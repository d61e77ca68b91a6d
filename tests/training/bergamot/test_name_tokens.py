from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from training.bergamot import name_tokens
from training.bergamot.name_tokens import NameTokenizer

CORPUS = [
    "fever of unknown origin",
    "Morbus Crohn, nos",
    "crohn's disease (disorder)",
    "дыхательная недостаточность",
    "低血糖症",
    "안면 마비",
    "ไข้หวัดใหญ่",
    "anaemia é à ü ﬁ ½ x²",
]


def word_piece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        CORPUS * 5, trainers.WordPieceTrainer(vocab_size=200, special_tokens=special)
    )
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]"))
    )
    return tokenizer


def unigram(scheme: str = "always") -> Tokenizer:
    """Like XLM-R's."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme=scheme)]
    )
    tokenizer.train_from_iterator(
        CORPUS * 5,
        trainers.UnigramTrainer(
            vocab_size=150, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>"
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return tokenizer


def metaspace() -> Tokenizer:
    tokenizer = unigram()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    return tokenizer


def squeezed() -> Tokenizer:
    """Like XLM-R's as later versions convert it."""
    tokenizer = metaspace()
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Strip(left=False, right=True),
            normalizers.Replace(Regex(" {2,}"), "▁"),
        ]
    )
    return tokenizer


def byte_level() -> Tokenizer:
    """Like RoBERTa's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        CORPUS * 5,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<s>", "</s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return tokenizer


MADE = {
    "word pieces": word_piece(),
    "unigram": unigram(),
    "unigram, first": unigram("first"),
    "metaspace": metaspace(),
    "squeezed": squeezed(),
    "byte level": byte_level(),
}
ODD = ["[MASK]", "<mask>", "a<mask>", "</s>", "\u0301", "e\u0301", "\u00a0", "\t", "´", "x" * 30]
WORDS = [word for line in CORPUS for word in line.split()]
NAMES = st.lists(
    st.lists(st.one_of(st.sampled_from(WORDS + ODD), st.text(max_size=3)), max_size=9).map(" ".join)
)


def rows(tokenizer: NameTokenizer, names: list[str]) -> list[list[int]]:
    ids, counts = tokenizer.encode(pa.array(names, pa.large_string()))
    flat = iter(ids.tolist())
    found = [[next(flat) for _ in range(count)] for count in counts]
    assert next(flat, None) is None
    return found


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("longest", [None, 2, 7])
@given(batches=st.lists(NAMES, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_the_ids_are_those_of_the_tokenizer(
    kind: str, longest: int | None, batches: list[list[str]]
) -> None:
    tokenizer = MADE[kind]
    tokenizer.no_truncation() if longest is None else tokenizer.enable_truncation(longest)
    fast = NameTokenizer(tokenizer)
    for names in batches:
        assert rows(fast, names) == [tokenizer.encode(name).ids for name in names]


def counted(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by every text that is tokenised."""
    seen: list[str] = []
    whole = NameTokenizer._whole

    def watched(self, texts: list[str], **options: bool) -> name_tokens.Tokens:
        seen.extend(filter(None, texts))
        return whole(self, texts, **options)

    monkeypatch.setattr(NameTokenizer, "_whole", watched)
    return seen


@pytest.mark.parametrize("kind", MADE)
def test_a_word_is_tokenised_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = counted(MADE[kind], monkeypatch)
    fast = NameTokenizer(MADE[kind])
    names = ["fever of fever of", "of unknown fever", "fever"]
    first = rows(fast, names)
    assert len(seen) == len(set(seen)) <= 5
    assert all(" " not in text.lstrip(" ") for text in seen)
    assert rows(fast, names) == first
    assert len(seen) == len(set(seen)), "the second time nothing is tokenised"


def test_a_full_cache_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_tokens, "_CACHED", 4)
    tokenizer = MADE["word pieces"]
    fast = NameTokenizer(tokenizer)
    for names in (["fever of"], ["unknown origin fever"], ["a b c d e f"], ["fever of"]):
        assert rows(fast, names) == [tokenizer.encode(name).ids for name in names]


def test_an_odd_word_takes_its_name_to_the_tokenizer_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = counted(MADE["unigram"], monkeypatch)
    odd = ["a \u0301b", "a b\u00a0", "´ a", "a\tb c", "a  b", " lead x", "x trail "]
    rows(NameTokenizer(MADE["unigram"]), [*odd, "plain words"])
    assert [text for text in seen if text in odd] == odd


def across_spaces() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    tokenizer.train_from_iterator(CORPUS * 5, trainers.BpeTrainer(vocab_size=400))
    return tokenizer


def with_a_phrase() -> Tokenizer:
    tokenizer = word_piece()
    tokenizer.add_tokens([AddedToken("unknown origin", normalized=False)])
    return tokenizer


def with_a_greedy_token() -> Tokenizer:
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("unknown", rstrip=True)])
    return tokenizer


@pytest.mark.parametrize("make", [across_spaces, with_a_phrase, with_a_greedy_token])
def test_a_tokenizer_that_looks_across_spaces_gets_whole_names(
    make: Callable[[], Tokenizer],
) -> None:
    tokenizer = make()
    names = [*CORPUS, "FEVER", "fever of unknown origin of fever"]
    assert rows(NameTokenizer(tokenizer), names) == [tokenizer.encode(name).ids for name in names]
