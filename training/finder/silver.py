"""Silver documents: marked by the knowledge base, and by a finder that was trained before."""

from collections.abc import Iterable, Iterator

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

from spacy_bergamot.finder import BergamotFinder
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import linker_of
from spacy_bergamot.text import normalize

SPANS = "found"
_SURE = 0.65
"""Score of the nearest concept from which what is no name is a mention, or none."""

Place = tuple[int, int]


class Marker:
    """Marks texts with what is known of them, for a finder to learn from.

    - A name of a concept of the wanted group is a mention, one of another group is none.
    - What only the finder marks is a mention if the linker's nearest concept is of the wanted group
      and near enough; it is none if that is of another group. Else nobody knows, and it is left
      open. (To take what is near nothing for none costs languages of which the knowledge base has
      few names half of their recall: docs/results.md.)
    - Of two mentions that overlap, the longer is one. All else is outside.

    nlp (Language): Pipeline with `bergamot_mentions` and `bergamot_linker`.
    finder (BergamotFinder | None): Writes `doc.spans["found"]`.
    label (str): The wanted semantic group.
    """

    def __init__(self, nlp: Language, finder: BergamotFinder | None, label: str) -> None:
        self.nlp = nlp
        self.finder = finder
        self.label = label
        self.linker, _ = linker_of(nlp)
        self.names = [pipe for _, pipe in nlp.pipeline if not isinstance(pipe, BergamotLinker)]

    def mark(self, texts: Iterable[tuple[str, str]]) -> Iterator[Doc]:
        """Yield the documents of (language, text) pairs; an empty language is found out."""
        for language, text in texts:
            doc = self.nlp.make_doc(text)
            doc.user_data["language"] = language
            if self.finder is not None:
                doc = self.finder(doc)
            guessed = _places(
                span for span in doc.spans.get(SPANS, ()) if span.label_ == self.label
            )
            for pipe in self.names:
                doc = pipe(doc)
            ours = _places(ent for ent in doc.ents if ent.label_ == self.label)
            others = _places(ent for ent in doc.ents if ent.label_ != self.label)
            guessed = [p for p in guessed if not _overlaps(p, others) or _overlaps(p, ours)]
            new = [place for place in guessed if not _overlaps(place, ours)]
            longer = [place for place in guessed if _overlaps(place, ours)]
            sure, unsure = self._judged(doc, new)
            yield self._written(doc, [*ours, *longer, *sure], unsure)

    def _judged(self, doc: Doc, places: list[Place]) -> tuple[list[Place], list[Place]]:
        """Return which places are surely mentions, and of which nobody knows."""
        sure: list[Place] = []
        unsure: list[Place] = []
        if not places:
            return sure, unsure
        texts = [normalize(doc.text[start:end]) for start, end in places]
        asked, k = [(text, "") for text in texts], self.linker.settings.k
        found = self.linker.generator.generate(asked, k=k)
        for place, candidates in zip(places, found, strict=True):
            if not candidates or candidates[0].score < _SURE:
                unsure.append(place)
            elif self.label in self.linker.kb.cui_to_entity[candidates[0].concept_id].groups:
                sure.append(place)
        return sure, unsure

    def _written(self, doc: Doc, mentions: list[Place], unsure: list[Place]) -> Doc:
        spans = [doc.char_span(*place, label=self.label) for place in mentions]
        ents = filter_spans([span for span in spans if span is not None])
        missing = [doc.char_span(*place) for place in unsure if not _overlaps(place, mentions)]
        doc.spans.clear()
        doc.set_ents(ents, missing=[span for span in missing if span], default="outside")
        return doc


def _places(spans: Iterable) -> list[Place]:
    return [(span.start_char, span.end_char) for span in spans]


def _overlaps(place: Place, others: Iterable[Place]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in others)
