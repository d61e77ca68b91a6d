"""Lines of a mention and a candidate, with the separators of the tokenizer."""

import pytest
from tokenizers import Tokenizer

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.cross_encoder.texts import MARKS, Line, Reader, Separators
from spacy_bergamot.linking.mention import Mention
from tests.spacy_bergamot.factories import candidate
from tests.spacy_bergamot.linking.cross_encoder.conftest import make_tokenizer

TEXT = "the common cold in a heart attack is here"
MENTION = Mention("heart attack", "DISO", TEXT, 21, 33, "", "en")
FOUND = candidate("C03", 0.9, alias="heart attack")


def shown(line: Line, tokenizer: Tokenizer) -> str:
    first = tokenizer.get_vocab_size()
    names = [tokenizer.id_to_token(one) if one < first else MARKS[one - first] for one in line.ids]
    return " ".join(names)


def lines(
    kb: KnowledgeBase,
    mention: Mention = MENTION,
    *,
    family: str = "bert",
    size: int = 60,
    context: int = 100,
    found: Candidate = FOUND,
) -> tuple[str, str]:
    """Return the lines of a candidate and of NIL, in words."""
    tokenizer = make_tokenizer(family)
    reader = Reader(tokenizer, kb, size=size, context=context)
    made = reader.lines(mention, [found])
    assert all(len(line.ids) <= size for line in made)
    return tuple(shown(line, tokenizer) for line in made)


def test_separators_are_those_of_the_tokenizer():
    bert, roberta = (Separators.of(make_tokenizer(name)) for name in ("bert", "roberta"))
    assert bert == ([2], [0], [0], 1)
    assert roberta == ([2], [0, 0], [0], 0)
    assert (bert.tokens, roberta.tokens) == (3, 4)
    assert Separators.of(make_tokenizer("single")) == ([2], [0], [0], 1)
    with pytest.raises(BergamotError, match="B150"):
        Separators.of(make_tokenizer("bare"))


@pytest.mark.parametrize(
    ("family", "first", "between", "last"),
    [("bert", "[CLS]", "[SEP]", "[SEP]"), ("roberta", "<s>", "</s> </s>", "</s>")],
)
def test_a_line_has_mention_and_candidate(kb, family, first, between, last):
    line, nil = lines(kb, family=family)
    before = "the common cold in a [START] heart attack [END] is here"
    assert line.startswith(f"{first} {before} {between} T047 [TYPE] ")
    assert line.endswith(f" {last}")
    assert nil == f"{first} {before} {between} [NIL] {last}"


def test_the_candidate_begins_with_what_was_found_and_the_documents_language(kb):
    tokenizer = make_tokenizer("bert")
    reader = Reader(tokenizer, kb, size=60, context=0)
    preferred = kb.name_and_types("C03")[0]
    others = [one["alias"] for one in kb.aliases("C03") if one["alias"] != preferred]
    found = candidate("C03", 0.9, alias=others[-1])
    (line, _) = reader.lines(MENTION, [found])
    words = shown(line, tokenizer).split(" [TITLE] ")[1]
    expected = [others[-1], *(one for one in others if one != others[-1])]
    read = [" ".join(tokenizer.encode(one, add_special_tokens=False).tokens) for one in expected]
    assert words.split(" [SEP]")[0] == read[0]
    assert words.count("[SEP]") == len(read)
    assert tokenizer.id_to_token(line.ids[line.second]) == "T047"


def test_a_long_form_stands_behind_the_mention_and_what_follows_is_not_lost(kb):
    mention = Mention("magnetic imaging", "", "the MRI.", 4, 7, "imaging", "en")
    assert lines(kb, mention)[1] == "[CLS] the [START] MRI ( imaging ) [END] . [SEP] [NIL] [SEP]"
    bare = mention._replace(long_form="")
    assert lines(kb, bare, context=0)[1] == "[CLS] [START] MRI [END] [SEP] [NIL] [SEP]"


def test_the_longer_text_is_cut_first_and_the_context_evenly(kb):
    line, nil = lines(kb, size=17)
    assert nil.startswith("[CLS] the common cold in a [START] heart attack [END] is here [SEP]")
    # 14 tokens for both: 7 for each
    assert line.startswith("[CLS] a [START] heart attack [END] is here [SEP] T047 [TYPE]")
    assert len(line.split()) == 17


def test_a_mention_that_is_longer_than_the_window_is_cut_and_stays_marked(kb):
    text = "heart attack " * 50
    mention = Mention("heart attack", "", text, 0, len(text) - 1, "", "en")
    line, nil = lines(kb, mention, size=20)
    assert nil.split().count("[START]") == nil.split().count("[END]") == 1
    assert nil.endswith("[END] [SEP] [NIL] [SEP]")
    assert "[END] [SEP] T047" in line
    assert len(nil.split()) == len(line.split()) == 20


def test_a_concept_that_is_not_there_is_an_error(kb):
    with pytest.raises(BergamotError, match=r"B013.*X99"):
        lines(kb, found=candidate("X99", 0.9))


def test_of_a_long_text_before_a_mention_its_end_is_read(kb):
    text = "a " * 100 + "common cold in heart attack"
    start = text.index("heart")
    mention = Mention("heart attack", "DISO", text, start, len(text), "", "en")
    line, _ = lines(kb, mention, size=24, context=1000)
    assert "common cold in [START] heart attack [END]" in line
