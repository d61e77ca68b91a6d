"""Collects documents and mentions of a corpus, and counts what cannot be taken."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from training.corpora.schema import CONTEXT, DOCUMENTS, MENTIONS, Corpus

NO_ID = frozenset({"", "-", "-1", "NIL", "NULL", "NONE", "N/A", "CUILESS", "CUI-LESS", "NOCODE"})
Spans = Sequence[tuple[int, int]]

logger = logging.getLogger(__name__)


class CorpusBuilder:
    """Collect a corpus document by document.

    name (str): Of the corpus.
    language (str): Of what does not say its own, such as ENG.
    """

    def __init__(self, name: str, language: str) -> None:
        self.name = name
        self.language = language
        self.skipped: Counter[str] = Counter()
        self._documents: dict[str, tuple[str, str]] = {}
        self._mentions: list[dict[str, Any]] = []
        self._numbers: Counter[str] = Counter()
        self._places: set[tuple] = set()

    def skip(self, reason: str, place: object, count: int = 1) -> None:
        """Count what is left out; the first of its kind is logged with its place."""
        if not count:
            return
        if reason not in self.skipped:
            logger.warning("Left out, %s: %s (and its like)", reason, place)
        self.skipped[reason] += count

    def document(self, document: str, text: str, *, language: str = "", place: object = "") -> None:
        """Take a document; of documents with the same id the first one counts."""
        known = self._documents.get(document)
        if known is None:
            self._documents[document] = (language or self.language, text)
        else:
            same = known[1] == text
            self.skip(f"document twice{'' if same else ', with another text'}", place or document)

    def mention(
        self,
        document: str,
        mention: str | None,
        ids: Iterable[str],
        *,
        place: object,
        spans: Spans = (),
        type: str = "",
        all_of: bool = False,
        context: str = "",
        language: str = "",
    ) -> None:
        """Take a mention, or count why not.

        mention (str | None): As the annotation writes it; None takes the text's own characters.
        ids (Iterable[str]): Gold ids; those that say that there is none are left out.
        place (object): Where it stands, for the log.
        spans (Spans): Start and end in characters of the document's text.
        """
        if spans:
            if document not in self._documents:
                return self.skip("annotation without its text", place)
            own, text = self._documents[document]
            language = language or own
            if not all(0 <= start < end <= len(text) for start, end in spans):
                return self.skip("offsets outside the text", place)
            found = " ".join(text[start:end] for start, end in spans)
            mention = _folded(found) if mention is None else mention
            if _folded(found).casefold() != _folded(mention).casefold():
                return self.skip("offsets disagree with the text", place)
            first, last = min(s for s, _ in spans), max(e for _, e in spans)
            context = context or text[max(0, first - CONTEXT) : last + CONTEXT]
        mention = _folded(mention or "")
        if not mention:
            return self.skip("empty mention", place)
        concepts = list(dict.fromkeys(filter(None, map(_plain_id, ids))))
        if spans:
            key = (document, tuple(spans), type, tuple(concepts))
            if key in self._places:
                return self.skip("the same annotation twice", place)
            self._places.add(key)
        self._numbers[document] += 1
        self._mentions.append(
            {
                "id": f"{document}#{self._numbers[document]}",
                "document": document,
                "language": language or self.language,
                "mention": mention,
                "starts": [start for start, _ in spans],
                "ends": [end for _, end in spans],
                "context": context,
                "type": type,
                "concepts": concepts,
                "all_of": all_of and len(concepts) > 1,
            }
        )
        return None

    def build(self) -> Corpus:
        """Return the corpus."""
        rows = [
            {"document": document, "language": language, "text": text}
            for document, (language, text) in self._documents.items()
        ]
        return Corpus(
            name=self.name,
            documents=pa.Table.from_pylist(rows, schema=DOCUMENTS),
            mentions=pa.Table.from_pylist(self._mentions, schema=MENTIONS),
            skipped=dict(self.skipped),
        )


def _folded(text: str) -> str:
    return " ".join(text.split())


def _plain_id(value: str) -> str:
    """Return an id without the prefix of UMLS; nothing for what says that there is none."""
    value = value.strip().removeprefix("UMLS:").strip()
    return "" if value.upper() in NO_ID else value
