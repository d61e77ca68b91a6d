"""What the model thread does: documents, mentions and explanations to plain values.

Outside of a batch's memory zone no document may be touched, so all that is returned is plain.
"""

import traceback
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from spacy_bergamot.languages import NO_LANGUAGE
from spacy_bergamot.linking.decision import NIL
from spacy_bergamot.mentions.splitting import split_tokens
from spacy_bergamot.output.exporters import to_dict
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import memory_zone
from spacy_bergamot.serve.vocabulary import Vocabulary
from spacy_bergamot.serve.wishes import GIVEN, Served, Wish, Wishes


class Asked(NamedTuple):
    """A text and what is known of it. places: Of given mentions, (start, end, label)."""

    text: str
    language: str | None = None
    places: tuple[tuple[int, int, str], ...] = ()


class Question(NamedTuple):
    """A mention whose link is to be explained."""

    mention: str
    label: str
    context: str
    language: str


class Verb(Enum):
    """What is wanted of an item."""

    LINK = "link"
    EXPLAIN = "explain"


class Kind(NamedTuple):
    """Items of one kind are processed together. candidates (bool): Of every mention, too."""

    verb: Verb
    wish: Wish
    candidates: bool = False


class Failed(Exception):
    """An exception of a pipeline, without what it held.

    kind (str): Its type.
    place (str): Where it was raised.
    """

    def __init__(self, kind: str, place: str) -> None:
        super().__init__(f"{kind} at {place}")
        self.kind = kind


def place(error: BaseException) -> str:
    """Say in which line of which file an exception was raised.

    error (BaseException): What was raised.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "nowhere"


class Service:
    """A pipeline for the model thread: call it with a `Kind` and items."""

    def __init__(self, nlp: Language, vocabulary: Vocabulary) -> None:
        self.nlp = nlp
        self.vocabulary = vocabulary
        self._wishes = Wishes(nlp)

    def __call__(self, kind: Kind, items: Sequence[Any]) -> list[dict[str, Any]]:
        """Return an answer for every item."""
        failed = None
        with memory_zone(self.nlp):
            try:
                answers = self._answers(self._wishes[kind.wish], kind, items)
            except Exception as error:  # its traceback holds documents
                failed = Failed(type(error).__name__, place(error))
        if failed is not None:
            raise failed
        return answers

    def _answers(self, served: Served, kind: Kind, items: Sequence[Any]) -> list[dict[str, Any]]:
        if kind.verb is Verb.EXPLAIN:
            return [self._explained(served.linker, question, kind.wish.k) for question in items]
        docs: Iterable[Doc] = [self._doc(item) for item in items]
        for component in served.components:
            pipe = getattr(component, "pipe", None)
            docs = pipe(docs) if pipe is not None else map(component, docs)
        key = served.linker.settings.spans_key
        answers = [self._answer(doc, key, kind) for doc in docs]
        if len(answers) < len(items):
            raise RuntimeError("A component's error handler has dropped a document.")
        return answers

    def warm_up(self) -> None:
        """Link an invented text in every language, so that no request waits for what is read then.

        It has no name of the knowledge base, and a mention: language model, spellings and rules of
        inflection are all asked.
        """
        text = "zqxv kwzplm jhgtrw vbnfds"  # long enough to be asked for its language
        codes = [code for code in self.vocabulary.languages if code not in NO_LANGUAGE]
        self(Kind(Verb.LINK, Wish()), [Asked(text), *(Asked(text, code) for code in codes)])
        self(Kind(Verb.LINK, Wish(given=True)), [Asked(text, None, ((0, 4, ""),))])

    def _doc(self, asked: Asked) -> Doc:
        doc = self.nlp.make_doc(asked.text)
        if asked.places:
            doc = split_tokens(doc, {border for place in asked.places for border in place[:2]})
            spans = [doc.char_span(*place) for place in asked.places]
            doc.spans[GIVEN] = SpanGroup(doc, spans=[span for span in spans if span is not None])
        if asked.language is not None:
            doc.user_data["language"] = asked.language
        return doc

    def _answer(self, doc: Doc, key: str | None, kind: Kind) -> dict[str, Any]:
        found = to_dict(doc, spans_key=key, candidates=kind.candidates, kb=self.vocabulary.kb)
        for entity in found["ents"] if kind.candidates else ():
            entity["candidates"] = entity.get("candidates", [])[: kind.wish.k]
            self._name(entity["candidates"])
        return found

    def _explained(
        self, linker: BergamotLinker, question: Question, most: int | None
    ) -> dict[str, Any]:
        mention, label, context, language = question
        found = linker.explain(mention, label, context=context, language=language)
        found["candidates"] = found["candidates"][:most]
        self._name(chain(found["candidates"], found["dropped"]))
        return found

    def _name(self, candidates: Iterable[dict[str, Any]]) -> None:
        """Add the names of concepts, and their semantic types."""
        for one in candidates:
            one |= self.vocabulary.named(one["concept_id"])


def is_nil(entity: Mapping[str, Any]) -> bool:
    """Tell whether a mention has no concept.

    entity (Mapping): A mention as the service returns it.
    """
    return entity["kb_id"] in ("", NIL)
