"""A corpus to a corpus in another language; what is lost on the way is counted by its reason."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from spacy_bergamot.languages import lat
from training.corpora.builder import CorpusBuilder
from training.corpora.schema import Corpus
from training.errors import BergamotError, Errors
from training.translate.marks import FORMS, Form, Read, Span, marked, numbered, read_back, rounds
from training.translate.search import find, find_all
from training.translate.sentences import Sentence, Splitter
from training.translate.translators import Translate

_BATCH = 32
_NOT_FOUND = "not found in the translation"

logger = logging.getLogger(__name__)


class Remembered:
    """A translator that keeps what it translated in a file, so that a killed run goes on.

    path (Path): JSON lines of source and translation; those of another translator are no use:
        the file's name says whose they are.
    """

    def __init__(self, translate: Translate, path: Path) -> None:
        self.translate = translate
        self.path = path
        self.known: dict[str, str] = {}
        if path.is_file():
            for line in path.read_text("utf8").splitlines():
                try:
                    source, made = json.loads(line)
                except ValueError:  # the last line of a killed run
                    continue
                self.known[source] = made

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the translations of texts. RAISES (BergamotError): T287 for too few or many."""
        new = list(dict.fromkeys(text for text in texts if text not in self.known))
        new.sort(key=len)  # sentences of one length make the least padding
        starts = range(0, len(new), _BATCH)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf8") as stream:
            for start in tqdm(starts, desc="Translating", unit=" batches", disable=not new):
                batch = new[start : start + _BATCH]
                made = self.translate(batch)
                if not isinstance(made, list) or len(made) != len(batch):
                    found = len(made) if isinstance(made, list) else type(made).__name__
                    raise BergamotError(Errors.T287, asked=len(batch), found=found)
                for pair in zip(batch, made, strict=True):
                    self.known[pair[0]] = " ".join(str(pair[1]).split())
                    stream.write(f"\n{json.dumps(pair, ensure_ascii=False)}")
                stream.flush()
        return [self.known[text] for text in texts]


class _Document(NamedTuple):
    name: str
    sentences: list[Sentence]
    mentions: list[dict[str, Any]]
    after: str


def translate_corpus(
    corpus: Corpus, translate: Callable[[Sequence[str]], list[str]], *, target: str, marks: str,
    project: str,
) -> tuple[Corpus, dict[str, Any]]:  # fmt: skip
    """Return the corpus in another language, and counts.

    translate (Callable): Texts to as many texts.
    target (str): Language, as "fr". marks (str): One of FORMS.
    project (str): "marks" around the mentions are translated with them; with "search" mentions are
        translated by themselves and looked for.
    RETURNS (tuple): The corpus, and {"mentions", "kept", "counts": {what happened: mentions}}.
    """
    counts: Counter[str] = Counter()
    documents = list(_documents(corpus, counts))
    sentences = [sentence for document in documents for sentence in document.sentences]
    if project == "search":
        reads = _searched(sentences, translate)
    else:
        reads = _marked(sentences, translate, FORMS[marks], counts)
    builder = CorpusBuilder(corpus.name, lat(target))
    read = iter(reads)
    for document in documents:
        _put(builder, document, [next(read) for _ in document.sentences], counts)
    made = builder.build()
    counts.update(builder.skipped)
    facts = {
        "mentions": corpus.mentions.num_rows,
        "kept": made.mentions.num_rows,
        "counts": {what: count for what, count in counts.most_common() if count},
    }
    return made, facts


def _documents(corpus: Corpus, counts: Counter[str]) -> Iterator[_Document]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in corpus.mentions.to_pylist():
        rows.setdefault(row["document"], []).append(row)
    split = Splitter()
    for document in corpus.documents.to_pylist():
        mentions = [row for row in rows.pop(document["document"], []) if row["starts"]]
        # A discontinuous mention is taken from its first character to its last.
        counts["discontinuous, taken whole"] += sum(len(row["starts"]) > 1 for row in mentions)
        spans = [(min(row["starts"]), max(row["ends"])) for row in mentions]
        text = document["text"]
        sentences = split(text, spans, document["language"])
        end = sum(len(of.before) + len(of.text) for of in sentences)
        yield _Document(document["document"], sentences, mentions, text[end:])
    counts["without a place in a text"] += sum(len(of) for of in rows.values())


class _Placed(NamedTuple):
    """A translated sentence, and of every span where it is now, or why it is lost."""

    text: str
    spans: dict[Span, Span]
    lost: dict[Span, str]


def _marked(
    sentences: Sequence[Sentence], translate: Callable, form: Form, counts: Counter[str]
) -> list[_Placed]:
    """Translate sentences with marks; those of whose mentions some cross, once for each round."""
    asked: list[tuple[int, dict[int, Span], str]] = []
    for row, sentence in enumerate(sentences):
        for spans in rounds(sentence.spans) or [[]]:
            numbers = numbered(spans, sentence.text, form)
            asked.append((row, numbers, marked(sentence.text, numbers, form)))
    translated = translate([text for _, _, text in asked])
    placed: dict[int, _Placed] = {}
    for (row, numbers, _), made in zip(asked, translated, strict=True):
        looks = {int(found["number"]) for found in form.pattern.finditer(sentences[row].text)}
        read = read_back(made, set(numbers), form, kept=looks)
        counts["marks that nobody had set"] += read.strange
        first = placed.get(row)
        if first is None:
            placed[row] = _Placed(read.text, *_by_span(read, numbers))
        else:
            _add_round(first, read, numbers)
    return [placed[row] for row in range(len(sentences))]


def _by_span(read: Read, numbers: dict[int, Span]) -> tuple[dict[Span, Span], dict[Span, str]]:
    found = {numbers[number]: span for number, span in read.spans.items()}
    return found, {numbers[number]: reason for number, reason in read.lost.items()}


def _add_round(first: _Placed, read: Read, numbers: dict[int, Span]) -> None:
    """Add what a further translation of a sentence says, to the text of the first."""
    found, lost = _by_span(read, numbers)
    first.lost.update(lost)
    for span, (start, end) in found.items():
        same = read.text == first.text
        place = (start, end) if same else find(read.text[start:end], first.text)
        if place is None:
            first.lost[span] = "crosses another, and was translated otherwise"
        else:
            first.spans[span] = place


def _searched(sentences: Sequence[Sentence], translate: Callable) -> list[_Placed]:
    """Translate sentences and mentions apart, and look for these in those."""
    texts = translate([sentence.text for sentence in sentences])
    spans = [list(dict.fromkeys(sentence.spans)) for sentence in sentences]
    mentions = [
        [sentence.text[start:end] for start, end in of]
        for sentence, of in zip(sentences, spans, strict=True)
    ]
    alone = iter(translate([one for of in mentions for one in of]))
    placed = []
    for text, of in zip(texts, spans, strict=True):
        found = find_all([next(alone).rstrip(".") for _ in of], text)
        pairs = list(zip(of, found, strict=True))
        lost = {span: _NOT_FOUND for span, place in pairs if place is None}
        placed.append(_Placed(text, {span: p for span, p in pairs if p is not None}, lost))
    return placed


def _put(
    builder: CorpusBuilder, document: _Document, placed: Sequence[_Placed], lost: Counter[str]
) -> None:
    """Put a document together again; offsets are of the new text."""
    text, spans = "", {}
    for sentence, one in zip(document.sentences, placed, strict=True):
        text += sentence.before
        for span, row in zip(sentence.spans, sentence.rows, strict=True):
            if span in one.spans:
                start, end = one.spans[span]
                spans[row] = (len(text) + start, len(text) + end)
            else:
                lost[one.lost[span]] += 1
        text += one.text
    builder.document(document.name, text + document.after)
    for row, mention in enumerate(document.mentions):
        if row in spans:
            builder.mention(
                document.name,
                None,
                mention["concepts"],
                place=mention["id"],
                spans=[spans[row]],
                type=mention["type"],
                all_of=mention["all_of"],
            )
