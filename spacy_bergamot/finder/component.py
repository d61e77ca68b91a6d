"""The component `bergamot_finder`: mentions by a trained token classifier, in any language.

It is a language model of its own, trained by `python -m training finder`. Put `bergamot_mentions`
behind it: names of the knowledge base that it does not find are marked there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans, minibatch
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.failures import processed
from spacy_bergamot.finder.decode import decode
from spacy_bergamot.finder.joints import Joints, beside, joints_of
from spacy_bergamot.finder.pieces import Pieces, read_pieces
from spacy_bergamot.finder.settings import FinderSettings
from spacy_bergamot.finder.tagger import Tagger
from spacy_bergamot.forks import ForkWatch
from spacy_bergamot.mentions import NAMES_INSIDE, UNGROUPED, Place, exact_spans
from spacy_bergamot.mentions.language import language_of
from spacy_bergamot.mentions.named_after import DISORDER, named_after
from spacy_bergamot.mentions.usual_short_forms import usual_short_forms
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.storage.bundle_pipe import BundlePipe
from spacy_bergamot.text import half_width

_COLONS = frozenset(":：")
_ANY = frozenset(["PHEN", UNGROUPED])
"""Labels of names that may be what the finder finds: laboratory results, and what has no type."""
_PUNCTUATION = ",;:，；：、،。·"


@Language.factory("bergamot_finder", assigns=["doc.ents"], default_config=asdict(FinderSettings()))
def make_finder(
    nlp: Language,
    name: str,
    threshold: float,
    agreement: float | None,
    spans_key: str | None,
    device: str,
    precision: str,
    batch_pieces: int,
) -> "BergamotFinder":
    """Make a mention finder; see `FinderSettings` for the settings.

    nlp (Language): The pipeline.
    name (str): Of the component.
    """
    return BergamotFinder(
        nlp.vocab,
        name,
        threshold=threshold,
        agreement=agreement,
        spans_key=spans_key,
        device=device,
        precision=precision,
        batch_pieces=batch_pieces,
    )


class BergamotFinder(BundlePipe):
    """Mark the mentions that a trained token classifier finds.

    Entities that are there already stay, unless `agreement` is given. In scripts without spaces
    tokens are split where mentions begin and end.

    settings: See `FinderSettings`.
    """

    settings: FinderSettings

    def __init__(self, vocab: Vocab, name: str = "bergamot_finder", **settings: Any) -> None:
        super().__init__(vocab, name, FinderSettings(**settings))
        self._tagger: Tagger | None = None
        self._watch = ForkWatch()

    @property
    def tagger(self) -> Tagger:
        """The token classifier.

        RAISES (BergamotError): B030 if there is none.
        """
        if self._tagger is None:
            raise BergamotError(Errors.B030, name=self.name)
        return self._tagger

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document; it is another one where tokens had to be split.

        doc (Doc): The document.
        RETURNS (Doc): The document, or the one that stands for it.
        """
        return next(iter(processed(self, [doc], self._mark)), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Mark the mentions of documents; one that fails goes to the error handler.

        stream (Iterable[Doc]): Documents.
        batch_size (int): Documents that are read together.
        YIELDS (Doc): Those that did not fail, in order.
        """
        for docs in minibatch(stream, size=batch_size):
            yield from processed(self, list(docs), self._mark)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        finder: Callable[[], Path] | None = None,
    ) -> None:
        """Take a trained finder: spacy_bergamot.Finder.v1.

        get_examples (Callable): Unused: nothing is trained.
        nlp (Language | None): Unused.
        finder (Callable[[], Path] | None): Names the folder of the trained finder.
        RAISES (BergamotError): B032 without one.
        """
        if finder is None:
            made = "with the folder that `python -m training finder` made"
            remedy = f"Give finder, spacy_bergamot.Finder.v1, {made}."
            raise BergamotError(Errors.B032, name=self.name, what="a trained finder", remedy=remedy)
        bundle = FileBundle.temporary()
        FileBundle(finder()).copy_to(bundle.path)
        self.set_files(bundle)

    def set_files(self, bundle: FileBundle) -> "BergamotFinder":
        """Take a trained finder's files.

        bundle (FileBundle): A folder that `Tagger.save` wrote.
        """
        settings = self.settings
        self._tagger = Tagger.open(
            bundle.path, device=settings.device, precision=settings.precision
        )
        self.bundle = bundle
        return self

    def _mark(self, docs: list[Doc]) -> list[Doc]:
        tagger, least = self.tagger, self.settings.threshold
        self._watch.forked()
        read = [read_pieces(doc, tagger.tokenizer) for doc in docs]
        scores = tagger.log_probabilities(read, batch_pieces=self.settings.batch_pieces)
        marked = []
        for doc, pieces, of in zip(docs, read, scores, strict=True):
            text = doc.text  # made of the tokens at every call
            places = [
                Place(*_trimmed(text, *pieces.characters(m.first, m.stop)), tagger.labels[m.label])
                for m in decode(of, _joints(doc, pieces, tagger.labels))
                if m.probability >= least
            ]
            doubt = partial(_doubt, pieces, np.exp(of), tagger.labels)
            marked.append(self._written(doc, places, doubt))
        return marked

    def _written(self, doc: Doc, places: list[Place], doubt: Callable[[Span], float]) -> Doc:
        places = list(_without_named_after(_without_headings(places, doc), doc))
        doc, spans = exact_spans(doc, places)
        found, key = [span for span in spans if span], self.settings.spans_key
        if key is not None:
            doc.spans[key] = found
            return doc
        found = filter_spans(found)
        kept = list(doc.ents)
        if (least := self.settings.agreement) is not None:
            labels, usual = set(self.tagger.labels), _usual_short_forms(doc)
            kept = [
                ent
                for ent in kept
                if ent.label_ not in labels
                or half_width(ent.text) in usual
                or doubt(ent) <= 1 - least
            ]
            found, kept, names = _agreed(found, kept)
            _keep_names(doc, names)
        taken = {token.i for ent in kept for token in ent}
        free = [span for span in found if not taken.intersection(range(span.start, span.end))]
        doc.set_ents([*kept, *free])
        return doc


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place without punctuation at its ends: the tokenizer has "、2" as one piece."""
    inner = text[start:end].strip(_PUNCTUATION)
    start = text.index(inner, start)
    return (start, start + len(inner)) if inner else (start, end)


def _without_headings(places: Iterable[Place], doc: Doc) -> Iterator[Place]:
    """Yield the mentions that are no headings: "ATCD:", in capitals before a colon, is one.

    A name that a component has marked is none: it stands in a list of problems ("COPD: stable").
    """
    text, ents = doc.text, [(ent.start_char, ent.end_char) for ent in doc.ents]
    for place in places:
        before_colon = text[place.end : place.end + 1] in _COLONS
        is_name = any(start < place.end and place.start < end for start, end in ents)
        if is_name or not (before_colon and text[place.start : place.end].isupper()):
            yield place


def _without_named_after(places: Iterable[Place], doc: Doc) -> Iterator[Place]:
    """Yield the mentions but disorders after which something else is named: "influenza swab"."""
    kept = list(places)
    disorders = [(place.start, place.end) for place in kept if place.label == DISORDER]
    named = named_after(doc.text, disorders, language_of(doc).languages)
    yield from (place for place in kept if (place.start, place.end) not in named)


def _joints(doc: Doc, pieces: Pieces, labels: Collection[str]) -> Joints:
    """Return the units that may stand between mentions, or beside the names in them."""
    text, languages = doc.text, language_of(doc).languages
    places = zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)
    joints = joints_of([text[start:end] for start, end in places], languages)
    names = [pieces.units(ent.start_char, ent.end_char) for ent in doc.ents if ent.label_ in labels]
    return beside(joints, [(name.start, name.stop) for name in names])


def _agreed(found: list[Span], ents: list[Span]) -> tuple[list[Span], list[Span], list[Span]]:
    """Return what stays of found mentions, of entities that are there, and names in the mentions.

    A mention stands for the entities in it, unless they know better: two of its label, which a
    conjunction joins ("strokes and pneumonias"), one that goes beyond it ("S. pneumoniae" is no
    pneumonia), or one of another label and the same words. The names are shorter and of the
    mention's label: "penicillin allergy" may not be linked as penicillin.
    """
    stays: list[Span] = []
    gone: set[int] = set()
    names: list[Span] = []
    at = {token: ent for ent in ents for token in range(ent.start, ent.end)}
    for span in found:
        inside = {at[i].start: at[i] for i in range(span.start, span.end) if i in at}.values()
        alike = [ent for ent in inside if ent.label_ == span.label_]
        known = [ent for ent in inside if ent.label_ not in _ANY]
        beyond = any(ent.start < span.start or span.end < ent.end for ent in known)
        same = any(len(ent) == len(span) and ent not in alike for ent in known)
        if len(alike) < 2 and not beyond and not same:
            stays.append(span)
            gone.update(ent.start for ent in inside)
            names.extend(ent for ent in alike if len(ent) < len(span))
    return stays, [ent for ent in ents if ent.start not in gone], names


def _usual_short_forms(doc: Doc) -> Collection[str]:
    """Return the short forms of clinical notes, which finders that learned from papers doubt."""
    return {short for code in language_of(doc).of_short_forms for short in usual_short_forms(code)}


def _keep_names(doc: Doc, names: Collection[Span]) -> None:
    """Put the names that mentions stand for beside them, as what may be linked instead."""
    doc.spans.pop(NAMES_INSIDE, None)
    if names:
        doc.spans[NAMES_INSIDE] = sorted(names)


def _doubt(pieces: Pieces, likely: np.ndarray, labels: Sequence[str], span: Span) -> float:
    """Return how likely it is that an entity is none of its kind: the mean of its units'.

    There are two kinds, disorders and all else: whether a count of cells is called a procedure or
    a measure is a matter of the vocabulary.
    """
    disorder = span.label_ == DISORDER
    columns = [1 + 2 * at + inside for at, label in enumerate(labels)
               if (label == DISORDER) == disorder for inside in (0, 1)]  # fmt: skip
    kind = likely[pieces.units(span.start_char, span.end_char)][:, columns]
    return 1 - float(kind.sum(1).mean()) if len(kind) else 1.0
