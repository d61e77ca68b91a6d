"""Documents as a token classifier sees them, and names of other languages put into them."""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

from spacy_bergamot.finder.pieces import Pieces, read_pieces
from spacy_bergamot.finder.tagger import tags_of
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.mentions import Place, exact_spans

UNKNOWN = -100
"""Tag of a unit of which nobody says whether it is in a mention; the loss leaves it out."""

_CASES: tuple[Callable[[str], str], ...] = (str.upper, str.lower)


class Example(NamedTuple):
    """A document's pieces, and the numbers of its units' tags, int64 (units,)."""

    pieces: Pieces
    tags: np.ndarray


def example_of(doc: Doc, tokenizer: Any, labels: Sequence[str]) -> Example:
    """Return a document with the tags of its entities.

    Tokens without annotation (`doc.set_ents(…, missing=…)`) have the tag `UNKNOWN`.
    """
    pieces = read_pieces(doc, tokenizer)
    number = {tag: at for at, tag in enumerate(tags_of(labels))}
    tags = np.zeros(len(pieces.firsts), dtype=np.int64)
    for token in doc:
        if token.ent_iob == 0:
            tags[pieces.units(token.idx, token.idx + len(token))] = UNKNOWN
    for ent in doc.ents:
        units = pieces.units(ent.start_char, ent.end_char)
        tags[units] = number[f"I-{ent.label_}"]
        tags[units.start : units.start + 1] = number[f"B-{ent.label_}"]
    return Example(pieces, tags)


def outside_tags(labels: Sequence[str], marked: Collection[str]) -> np.ndarray:
    """Return which tags a unit outside of the mentions of a corpus may have, bool (tags,).

    A corpus with entities, but none of some label, says nothing of that label: what is outside of
    its mentions may be one. In a corpus without any entity everything is outside.

    labels (Sequence[str]): Of all corpora. marked (Collection[str]): Of this one's entities.
    """
    known = marked or labels
    return np.array([True, *(label not in known for label in labels for _ in "BI")])


class Swaps:
    """Names of a knowledge base by concept, to put in place of gold mentions.

    An English document with a French name in it teaches how French names look.
    """

    def __init__(self, table: ConceptTable, wanted: Iterable[str]) -> None:
        concepts = {concept for kb_id in wanted for concept in kb_id.split("|")}
        rows = {concept: table.find(concept) for concept in concepts}
        self._names: dict[str, dict[str, list[str]]] = {}
        for concept, row in rows.items():
            if row is not None:
                by_language = self._names.setdefault(concept, {})
                for alias in table.rows_of("aliases", row).to_pylist():
                    by_language.setdefault(alias["language"], []).append(alias["alias"])

    def swapped(self, nlp: Language, doc: Doc, share: float, draw: random.Random) -> Doc:
        """Return a document in which a share of the mentions have another name of their concept.

        In a document in English the language is drawn first, so that the few names of one count as
        the many of another. One in another language keeps it: there it is what such names look like
        among such words.
        """
        if any(token.ent_iob == 0 for token in doc):
            return doc
        own = doc.user_data.get("language", "")
        text, places, behind = "", [], 0
        for ent in doc.ents:
            text += doc.text[behind : ent.start_char]
            behind = ent.end_char
            known = [one for one in ent.kb_id_.split("|") if one in self._names]
            name = ent.text
            if known and draw.random() < share:
                named = self._names[draw.choice(known)]
                languages = [own] if own != "ENG" and own in named else sorted(named)
                name = draw.choice(named[draw.choice(languages)])
            places.append(Place(len(text), len(text) + len(name), ent.label_, ent.kb_id_))
            text += name
        made, spans = exact_spans(nlp.make_doc(text + doc.text[behind:]), places)
        # Mentions side by side may share a token now, in scripts without spaces.
        made.set_ents(filter_spans([span for span in spans if span]), default="outside")
        return made


def recased(doc: Doc, draw: random.Random) -> Doc:
    """Return a document in capitals, or in small letters: notes are written so."""
    text = draw.choice(_CASES)(doc.text)
    if len(text) != len(doc.text):  # "ß" in capitals
        return doc
    words = [text[token.idx : token.idx + len(token)] for token in doc]
    made = Doc(doc.vocab, words, [bool(token.whitespace_) for token in doc])
    columns: Any = doc.to_array(["ENT_IOB", "ENT_TYPE"])
    return made.from_array(["ENT_IOB", "ENT_TYPE"], columns)
