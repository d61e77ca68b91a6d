"""Gold mentions to candidates: a linker is asked for those of a corpus, some concepts hidden."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.look_up import LookUp
from spacy_bergamot.linking.mention import Mention, Query
from spacy_bergamot.mentions.language import Guess
from training.corpora.registry import read_corpus
from training.corpora.schema import Corpus
from training.errors import BergamotError, Errors
from training.rerank.candidates import Asked, Document, Gold

if TYPE_CHECKING:
    from spacy_bergamot.pipeline.linker import BergamotLinker

VERSION = 1
_BATCH = 256


class _Read(NamedTuple):
    """A document of a corpus as it is looked up."""

    name: str
    mentions: list[Mention]
    golds: list[frozenset[str]]


def read_documents(path: Path) -> Corpus:
    """Read a corpus folder, or a file or folder in one of the forms of `training corpus`."""
    if (path / "mentions.arrow").is_file():
        return Corpus.open(path)
    return read_corpus(path)


def ask(
    linker: "BergamotLinker",
    corpus: Corpus,
    *,
    k: int,
    remove: float = 0.0,
    seed: int = 0,
    known: Path | None = None,
) -> Asked:
    """Ask a linker's generator for the candidates of a corpus's mentions.

    k (int): Candidates of a mention.
    remove (float): Share of the gold concepts, drawn by `seed`, that are hidden from their mentions
        as if the knowledge base did not have them.
    known (Path | None): File of an earlier time: it is read if it is of just this, else written.
    RAISES (BergamotError): B037 for a share below 0 or from 1 on, T296 if no mention has a place in
        a text, T370 for a file of something else.
    """
    if not 0 <= remove < 1:
        raise BergamotError(
            Errors.B037, setting="--remove-concepts", value=remove, rule="at least 0 and below 1"
        )
    of = linker.settings
    content = [corpus.documents.to_pylist(), corpus.mentions.to_pylist()]
    facts = {
        "version": VERSION,
        "index": linker.parts.index.fingerprint,
        "changes": linker.parts.changes.counts if linker.parts.changes else {},
        "generator": of.generation,
        "settings": repr((of.allowed, of.abbreviations, of.usual_abbreviations)),
        "corpus": hashlib.sha256(json.dumps(content).encode()).hexdigest(),
        "k": k,
        "remove": remove,
        "seed": seed,
    }
    if known is not None and known.is_file():
        before = Asked.read(known)
        if facts.items() <= before.facts.items():
            return before
    counts: Counter[str] = Counter(corpus.skipped)
    read = list(_read(corpus, LookUp(linker.settings, linker.parts.kb), counts))
    if not read:
        what = "mention with a place in a text and a concept, so no context to learn from"
        remedy = "Give a corpus with documents and offsets."
        raise BergamotError(Errors.T296, path=corpus.name, what=what, remedy=remedy)
    gone = _drawn({one for of in read for gold in of.golds for one in gold}, remove, seed)
    documents = _with_candidates(linker, read, gone, k)
    counts += _counts(documents)
    made = Asked(documents, {**facts, "counts": dict(counts)})
    if known is not None:
        made.write(known)
    return made


def _read(corpus: Corpus, look_up: LookUp, counts: Counter[str]) -> Iterator[_Read]:
    """Yield the documents that have mentions to learn from, and count the mentions left out."""
    texts = {row["document"]: row for row in corpus.documents.to_pylist()}
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in corpus.mentions.to_pylist():
        if not row["starts"] or not texts.get(row["document"], {}).get("text"):
            counts["without a place in a text"] += 1
        elif row["all_of"]:
            counts["several concepts together"] += 1
        else:
            rows.setdefault(row["document"], []).append(row)
    for name, of in rows.items():
        places = [(min(row["starts"]), max(row["ends"]), row["type"]) for row in of]
        text, language = texts[name]["text"], texts[name]["language"]
        mentions = look_up.at(places, text, _said(language))
        yield _Read(name, mentions, [frozenset(row["concepts"]) for row in of])


def _said(language: str) -> Guess:
    return Guess([language], bool(language))


def _drawn(concepts: Collection[str], share: float, seed: int) -> set[str]:
    """Draw a share of some concepts; the same for the same concepts and seed."""
    names = sorted(concepts)
    kept = np.random.default_rng(seed).permutation(len(names))[: round(share * len(names))]
    return {names[row] for row in kept}


def _with_candidates(
    linker: "BergamotLinker", read: Sequence[_Read], gone: set[str], k: int
) -> list[Document]:
    """Ask for the candidates; mentions of a concept that is gone do not see it."""
    look_up, table = LookUp(linker.settings, linker.parts.kb), linker.parts.index.table
    hidden = np.zeros(table.aliases.num_rows, dtype=bool)
    golds = [gold for of in read for gold in of.golds]
    # Of concepts that are equally right, all are gone where one of them is.
    for concept_id in {one for gold in golds if gold & gone for one in gold}:
        row = table.find(concept_id)
        if row is not None:
            hidden[list(table.span_of("aliases", row))] = True
    asked = [look_up.query(one) for of in read for one in of.mentions]
    is_hidden = [bool(gold & gone) for gold in golds]
    found: dict[tuple[Query, bool], list[Candidate]] = {}
    for wanted in (False, True):
        names = [name for name, one in zip(asked, is_hidden, strict=True) if one == wanted]
        distinct = list(dict.fromkeys(names))
        generator = linker.parts.hiding(hidden) if wanted and distinct else linker.generator
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            for name, one in zip(batch, generator.generate(batch, k=k), strict=True):
                found[name, wanted] = one
    pairs = iter([found[key] for key in zip(asked, is_hidden, strict=True)])
    marks = iter(
        [
            Gold(gold, not one and any(concept in linker.kb for concept in gold), one)
            for gold, one in zip(golds, is_hidden, strict=True)
        ]
    )
    return [
        Document(of.name, of.mentions, [next(pairs) for _ in of.golds],
                 [next(marks) for _ in of.golds])
        for of in read
    ]  # fmt: skip


def _counts(documents: Sequence[Document]) -> Counter[str]:
    """Count the mentions, and those whose gold no ranking can put first."""
    counts: Counter[str] = Counter()
    for document in documents:
        for found, gold in zip(document.candidates, document.golds, strict=True):
            counts["mentions"] += 1
            counts["hidden"] += gold.is_hidden
            lacks = not gold.is_known and not gold.is_hidden and bool(gold.concepts)
            counts["gold that the knowledge base lacks"] += lacks
            misses = not any(one.concept_id in gold.concepts for one in found)
            counts["gold that the candidates lack"] += gold.is_known and misses
    return counts
