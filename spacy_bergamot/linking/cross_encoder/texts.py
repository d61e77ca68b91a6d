"""What a cross-encoder reads: a mention in its context and a candidate, as one line of token ids.

    [CLS] left [START] mention (long form) [END] right [SEP]
        T047,T191 [TYPE] preferred name [TITLE] alias [SEP] alias … definition [SEP]

The first alias is the one that was found; then names in the document's language, English ones, and
others. NIL is the mark [NIL]. Ids and separators are those of the language model's own tokenizer
for a pair of texts; marks have ids behind its vocabulary. (Input of xMEN, Borchert et al. 2025.)
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.languages import lat
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.mention import Mention

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARKS = ("[START]", "[END]", "[TITLE]", "[NIL]", "[TYPE]")
_START, _END, _TITLE, _NIL, _TYPE = range(len(MARKS))
_ALIASES = 32
_REMEMBERED = 20_000


class Line(NamedTuple):
    """Token ids of a mention and a candidate.

    ids (list[int]): With special tokens; marks follow the vocabulary.
    second (int): Where the candidate begins.
    """

    ids: list[int]
    second: int


class Separators(NamedTuple):
    """What a tokenizer puts before, between and behind two texts.

    kind (int): Token type of the second text: 1 for BERT, 0 for RoBERTa and XLM-R.
    """

    before: list[int]
    between: list[int]
    behind: list[int]
    kind: int

    @classmethod
    def of(cls, tokenizer: "Tokenizer") -> "Separators":
        """Read them from what a tokenizer makes of a pair.

        tokenizer (tokenizers.Tokenizer): One that joins two texts without anything between them
            gets what it ends a text with.
        RAISES (BergamotError): B150 if that is nothing too.
        """
        pair = tokenizer.encode("a", "a")
        owners = pair.sequence_ids
        first = [at for at, owner in enumerate(owners) if owner == 0]
        second = [at for at, owner in enumerate(owners) if owner == 1]
        single = tokenizer.encode("a")
        inside = [at for at, owner in enumerate(single.sequence_ids) if owner == 0]
        if not first or not second:
            raise BergamotError(Errors.B150)
        before, behind = single.ids[: inside[0]], single.ids[inside[-1] + 1 :]
        between = pair.ids[first[-1] + 1 : second[0]] or behind
        if not between:
            raise BergamotError(Errors.B150)
        return cls(before, between, behind, pair.type_ids[second[0]])

    @property
    def tokens(self) -> int:
        """How many there are."""
        return len(self.before) + len(self.between) + len(self.behind)


class Reader:
    """Turns mentions and candidates into lines.

    tokenizer (tokenizers.Tokenizer): Without truncation.
    kb (KnowledgeBase): Where candidates are described.
    size (int): Tokens of a line at most.
    context (int): Characters on either side of a mention that are read.
    """

    def __init__(
        self, tokenizer: "Tokenizer", kb: KnowledgeBase, *, size: int, context: int
    ) -> None:
        self.tokenizer = tokenizer
        self.kb = kb
        self.size = size
        self.context = context
        self._separators = Separators.of(tokenizer)
        self._first = tokenizer.get_vocab_size()
        self._known = lru_cache(maxsize=_REMEMBERED)(self._read)

    def lines(self, mention: Mention, candidates: Sequence[Candidate]) -> list[Line]:
        """Return what is read of a mention.

        mention (Mention): In its text. candidates (Sequence[Candidate]): Of the knowledge base.
        RETURNS (list[Line]): One for every candidate, then one for NIL.
        """
        language = lat(mention.language)
        left, middle, right = self._mention(mention)
        seconds = [self._candidate(one, language) for one in candidates]
        seconds.append([self._mark(_NIL)])
        return [self._line(left, middle, right, second) for second in seconds]

    def _line(
        self, left: list[int], middle: list[int], right: list[int], second: list[int]
    ) -> Line:
        """Join both texts; the longer one is cut first.

        A mention loses its context, evenly, then its end; a candidate its end.
        """
        room = self.size - self._separators.tokens
        length = len(left) + len(middle) + len(right)
        share = max(room - len(second), room // 2)
        if length > share:
            middle = [*middle[:-1][: share - 1], middle[-1]]
            around = share - len(middle)
            on_left = min(len(left), max(around // 2, around - len(right)))
            left, right = left[len(left) - on_left :], right[: around - on_left]
        first = [*left, *middle, *right]
        second = second[: room - len(first)]
        before, between, behind, _ = self._separators
        start = len(before) + len(first) + len(between)
        return Line([*before, *first, *between, *second, *behind], start)

    def _mention(self, mention: Mention) -> tuple[list[int], list[int], list[int]]:
        """Return the tokens before a mention, of it with its marks, and behind it."""
        form = f"{mention.surface} ({mention.long_form})" if mention.long_form else mention.surface
        left, middle, right = self._ids(
            mention.context[max(0, mention.start - self.context) : mention.start],
            form,
            mention.context[mention.end : mention.end + self.context],
        )
        return left, [self._mark(_START), *middle, self._mark(_END)], right

    def _candidate(self, candidate: Candidate, language: str) -> list[int]:
        head, name, names = self._known(candidate.concept_id, language)
        found = [] if candidate.alias == name else self._ids(candidate.alias)
        others = [ids for text, ids in names if text != candidate.alias]
        line = list(head)
        for number, ids in enumerate([*found, *others]):
            line += [*(self._separators.between[:1] if number else []), *ids]
        return line

    def _read(
        self, concept_id: str, language: str
    ) -> tuple[list[int], str, list[tuple[str, list[int]]]]:
        """Return types and preferred name in tokens, that name, and other names with theirs."""
        name, types = self.kb.name_and_types(concept_id) or (concept_id, [])
        rank = {language: 0, "ENG": 1}
        aliases = sorted(self.kb.aliases(concept_id), key=lambda one: rank.get(one["language"], 2))
        names = list(dict.fromkeys(one["alias"] for one in aliases if one["alias"] != name))
        names = [*names[:_ALIASES], *filter(None, [self.kb.definition(concept_id)])]
        kinds, title, *others = self._ids(",".join(types), name, *names)
        head = [*kinds, self._mark(_TYPE), *title, self._mark(_TITLE)]
        # What is beyond a line is never read: a definition may be long, and it is remembered.
        return head, name, [(of, ids[: self.size]) for of, ids in zip(names, others, strict=True)]

    def _ids(self, *texts: str) -> list[list[int]]:
        found = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [one.ids for one in found]

    def _mark(self, number: int) -> int:
        return self._first + number
