"""The component `bergamot_mentions`: mentions by dictionary, in any language, without an NER.

It carries the keys of the knowledge base's aliases, not their text: some 70 bytes per name. In
Chinese, Japanese and Thai, which write no spaces, a mention may begin and end inside a token; the
token is split there, so that entities are exact.
"""

import weakref
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.hashing import WindowKeys
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.languages import NO_LANGUAGE, OTHER_SCRIPTS, lat
from spacy_bergamot.mentions.dictionary import MentionKeys
from spacy_bergamot.mentions.folded import FoldedText, Windows
from spacy_bergamot.mentions.language import Guess, language_of
from spacy_bergamot.mentions.named_after import DISORDER, named_after
from spacy_bergamot.mentions.not_mentions import (
    spaced_phrases,
    unspaced_phrases,
    without_parts_of,
)
from spacy_bergamot.mentions.places import (
    Place,
    free,
    longest_first,
    without_headings,
    without_stop_words,
)
from spacy_bergamot.mentions.reading import readings
from spacy_bergamot.mentions.settings import MentionSettings
from spacy_bergamot.mentions.short_forms import short_form_places, usual_places
from spacy_bergamot.mentions.splitting import split_tokens
from spacy_bergamot.mentions.windows import find_names
from spacy_bergamot.name_keys import keyed
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.storage.bundle_pipe import BundlePipe

_DRUG = "CHEM"
UNGROUPED = "MENTION"
"""Label of the names of a concept without a semantic group."""


@Language.factory(
    "bergamot_mentions",
    assigns=["doc.ents"],
    default_config=asdict(
        MentionSettings(groups_discard=["ACTI", "CONC", "GENE", "GEOG", "OBJC", "OCCU", "ORGA"])
    ),
)
def make_mentions(
    nlp: Language,
    name: str,
    max_tokens: int,
    min_length: int,
    groups: list[str],
    groups_discard: list[str],
    languages: list[str],
    folded: bool,
    tolerant: bool,
    abbreviations: bool,
    usual_abbreviations: bool,
    spans_key: str | None,
) -> "BergamotMentions":
    """Make a dictionary matcher; see `MentionSettings` for the settings.

    nlp (Language): The pipeline.
    name (str): Of the component.
    """
    made = BergamotMentions(
        nlp.vocab,
        name,
        max_tokens=max_tokens,
        min_length=min_length,
        groups=groups,
        groups_discard=groups_discard,
        languages=languages,
        folded=folded,
        tolerant=tolerant,
        abbreviations=abbreviations,
        usual_abbreviations=usual_abbreviations,
        spans_key=spans_key,
    )
    made.home = weakref.ref(nlp)
    return made


_LIVING: "weakref.WeakSet[BergamotMentions]" = weakref.WeakSet()


class BergamotMentions(BundlePipe):
    """Mark aliases, of those that overlap the longest, with their semantic group or MENTION.

    Entities that are there already stay. A name in capitals of up to five characters, such as an
    abbreviation, matches capitals only, and a stop word of the document's language is no mention,
    unless it is in capitals. A document is read for the names of its language: the one that
    `doc.user_data["language"]` says, a code or a list of them, else its pipeline's, else the one
    that it seems to be in. Names of other languages are marked too, unless they are short words.

    settings: See `MentionSettings`.
    """

    settings: MentionSettings

    def __init__(self, vocab: Vocab, name: str = "bergamot_mentions", **settings: Any) -> None:
        super().__init__(vocab, name, MentionSettings(**settings))
        self.home: weakref.ref[Language] | None = None
        self._keys: MentionKeys | None = None
        _LIVING.add(self)

    @staticmethod
    def living() -> "list[BergamotMentions]":
        """Return all of this process that are in use."""
        return list(_LIVING)

    @property
    def keys(self) -> MentionKeys:
        """The dictionary.

        RAISES (BergamotError): B030 if there is none.
        """
        if self._keys is None:
            raise BergamotError(Errors.B030, name=self.name)
        return self._keys

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document; it is another one where tokens had to be split.

        doc (Doc): The document.
        RETURNS (Doc): The document, or the one that stands for it.
        """
        found, key = self._find(doc), self.settings.spans_key
        if key is None:
            found = free(longest_first(found), doc)
        doc = split_tokens(doc, {border for start, end, _ in found for border in (start, end)})
        spans = [doc.char_span(*place) for place in found]
        if key is not None:
            doc.spans[key] = [span for span in spans if span]
        else:
            doc.set_ents(filter_spans([*doc.ents, *(span for span in spans if span)]))
        return doc

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        concepts: Callable[[], ConceptTable] | None = None,
    ) -> None:
        """Take the keys of a knowledge base's aliases: spacy_bergamot.ConceptTable.v1.

        get_examples (Callable): Unused: nothing is trained.
        nlp (Language | None): Unused.
        concepts (Callable[[], ConceptTable] | None): Opens the concept table.
        RAISES (BergamotError): B038 without one.
        """
        if concepts is None:
            raise BergamotError(Errors.B038, name=self.name)
        bundle = FileBundle.temporary()
        MentionKeys.write(bundle.path, concepts())
        self.set_files(bundle)

    def set_files(self, bundle: FileBundle) -> "BergamotMentions":
        """Take a dictionary.

        bundle (FileBundle): The dictionary's files.
        RAISES (BergamotError): B033 if the settings do not fit it.
        """
        keys = MentionKeys(bundle.path)
        settings = self.settings
        keys.check(languages=settings.languages, groups=settings.groups, name=self.name)
        self.bundle, self._keys = bundle, keys
        return self

    def with_groups(self, groups: Iterable[str]) -> "BergamotMentions":
        """Return another that marks these semantic groups, over the same dictionary in memory.

        RAISES (BergamotError): B033 for a group that the dictionary does not have.
        """
        given = replace(self.settings, groups=list(groups))
        other = BergamotMentions(self.vocab, self.name, **vars(given))
        self.keys.check(languages=given.languages, groups=given.groups, name=self.name)
        other.home, other.bundle, other._keys = self.home, self.bundle, self.keys
        return other

    def _find(self, doc: Doc) -> list[Place]:
        """Return every window of the text that is a name; in order of starts, then of ends."""
        keys, settings = self.keys, self.settings
        codes, sure = self._languages(doc)
        own = keys.of_languages(codes if sure else [])
        groups = keys.of_groups(settings.groups, discarded=settings.groups_discard)
        read = readings(doc)
        is_latin = not (sure and OTHER_SCRIPTS.issuperset(codes))
        places: dict[tuple[int, int], str] = {}
        for reading in read:
            found = find_names(
                reading,
                keys,
                max_tokens=settings.max_tokens,
                min_length=settings.min_length,
                languages=own,
                others=keys.of_languages(settings.languages) & ~own,
                groups=groups,
                latin=is_latin,
            )
            places |= self._places(found.starts, found.ends, keys.rows.groups[found.rows])
        texts = [
            text
            for code in (codes if settings.folded else ())
            for reading in read
            for text in FoldedText.of(reading, code)
        ]
        most = settings.max_tokens
        phrases = [found for code in codes for r in read for found in unspaced_phrases(r, code)]
        for text in texts:
            windows = text.windows(most)
            places = self._folded(doc.text, text.language, windows, groups) | places
            phrases += spaced_phrases(windows, text.language)
        for text in texts if settings.tolerant else ():
            corrected = keys.corrected(text, codes)
            windows = text.windows(most, corrected)
            places = self._folded(doc.text, text.language, windows, groups) | places
        words_of = codes if is_latin else [*codes, "ENG"]
        places = without_stop_words(places, doc.text, words_of)
        places = without_headings(places, doc.text, codes)
        if settings.usual_abbreviations:
            label = partial(self._label, groups=groups)
            places = usual_places(doc, Guess(codes, sure), label) | places
        places = self._without_named_after(without_parts_of(places, phrases), doc.text, codes)
        if settings.abbreviations:
            places |= short_form_places(doc, places)
        return [(start, end, label) for (start, end), label in sorted(places.items())]

    def _folded(
        self, text: str, language: str, windows: Windows, groups: np.ndarray
    ) -> dict[tuple[int, int], str]:
        """Return labels by place of the windows of a text whose folded form is that of a name."""
        keys = self.keys
        allowed = keys.of_languages([language])
        rows = keys.folded.find(windows.keys, languages=allowed, groups=groups)
        # Two Korean syllables are a name; they are four letters or more.
        least = 2 if language == "KOR" else self.settings.min_length
        long = windows.ends - windows.starts >= least
        hit = np.flatnonzero((rows >= 0) & long)
        labels = keys.folded.groups[rows[hit]]
        places = self._places(windows.starts[hit], windows.ends[hit], labels)
        # "Husten/Auswurf" are two findings, "amoxicillin/clavulanate" is one drug.
        return {
            (start, end): label
            for (start, end), label in places.items()
            if label == _DRUG or "/" not in text[start:end]
        }

    def _without_named_after(
        self, places: dict[tuple[int, int], str], text: str, codes: list[str]
    ) -> dict[tuple[int, int], str]:
        """Leave out disorders after which something else is named, and what is inside of them."""
        disorders = [place for place, label in places.items() if label in (DISORDER, UNGROUPED)]
        named = named_after(text, disorders, codes)
        kept = {place: label for place, label in places.items() if place not in named}
        return without_parts_of(kept, named)

    def _label(self, name: str, *, groups: np.ndarray) -> str | None:
        """Return the label of a name in any language; None if it is none, or not to be marked."""
        keys = self.keys
        key = WindowKeys.of([keyed(name)])
        (row,) = keys.rows.find(key, languages=keys.of_languages([]), groups=groups)
        return (keys.groups[keys.rows.groups[row]] or UNGROUPED) if row >= 0 else None

    def _places(
        self, starts: np.ndarray, ends: np.ndarray, groups: np.ndarray
    ) -> dict[tuple[int, int], str]:
        """Return labels by place."""
        # spaCy drops an entity without a label.
        labels = [self.keys.groups[group] or UNGROUPED for group in groups]
        return dict(zip(zip(starts.tolist(), ends.tolist(), strict=True), labels, strict=True))

    def _languages(self, doc: Doc) -> Guess:
        """Return the languages that a document is in, or may be in."""
        known = {lat(code) for code in self.keys.languages if code not in NO_LANGUAGE}
        return language_of(doc, said=self.settings.languages, known=known)
