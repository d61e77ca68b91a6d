"""Mentions whose answers are known without a gold corpus, for `BergamotLinker.calibrate_on`.

A linker meets four kinds of mentions, and has to refuse two of them:

- names as the dictionary has them,
- names that it does not have, of concepts that it has: held-out names, hidden for the occasion,
- names of concepts that it does not have: all names of some concepts are hidden,
- words that are no concept: those of everyday sentences in the languages that spaCy brings.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import spacy.lang

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import rerank_documents
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.text import has_letters, normalize

Name = tuple[frozenset[str], str]
"""Concept ids, any of which is right, and a name."""

_MISSING = 4
"""One of so many concepts is hidden with all its names."""
_MOST = 4000


class Answers(NamedTuple):
    """Candidates of mentions, best first, and the right concepts of each: none for NIL."""

    candidates: list[list[Candidate]]
    golds: list[frozenset[str]]


def answers(linker: BergamotLinker, names: Sequence[Name], *, seed: int = 0) -> Answers:
    """Ask a linker for mentions of the four kinds, each a document of its own for its reranker.

    names: Held-out names, which the language model was best not trained on; at most 4,000 of them
        are taken. Of every eight mentions four are such names, one of them of a concept that is
        hidden; two are names of the dictionary, and two are everyday words.
    seed (int): Of what is drawn.
    """
    rng = np.random.default_rng(seed)
    if len(names) > _MOST:
        names = [names[row] for row in sorted(rng.choice(len(names), _MOST, replace=False))]
    index = linker.parts.index
    concepts = sorted(set(chain.from_iterable(gold for gold, _ in names)))
    missing = {one for one in concepts if not rng.integers(_MISSING)}
    k = linker.settings.k
    hidden = linker.parts.hiding(_rows(index, names, missing)).generate(
        [(normalize(name), "") for _, name in names], k=k
    )
    known = _names_of(index, len(names) // 2, rng)
    words = _words(index, len(names) // 2, rng)
    asked = [*(name for _, name in known), *words]
    shown = linker.generator.generate([(name, "") for name in asked], k=k)
    rows = [
        *zip((name for _, name in names), hidden, (gold - missing for gold, _ in names),
             strict=True),
        *zip(asked, shown, [*(gold for gold, _ in known), *(frozenset() for _ in words)],
             strict=True),
    ]  # fmt: skip
    # A name that another concept shares is no example of a missing concept.
    kept = [row for row in rows if row[2] or not _is_exact(row[1])]
    found = _reranked(linker, [name for name, _, _ in kept], [found for _, found, _ in kept])
    return Answers(found, [gold for _, _, gold in kept])


def _reranked(
    linker: BergamotLinker, names: list[str], found: list[list[Candidate]]
) -> list[list[Candidate]]:
    """Return the candidates as the linker's reranker changes them."""
    parts = linker.parts
    if parts.reranker is None:
        return found
    mentions = [[Mention(normalize(name), "", name, 0, len(name))] for name in names]
    changed = rerank_documents(parts.reranker, mentions, [[one] for one in found], parts.kb)
    return [one for (one,) in changed]


def _is_exact(found: list[Candidate]) -> bool:
    return bool(found) and found[0].score == 1


def _rows(index: AliasIndex, names: Sequence[Name], missing: set[str]) -> np.ndarray:
    """Return bool by alias: what is hidden."""
    table = index.table
    hidden = np.zeros(table.aliases.num_rows, dtype=bool)
    for concept in missing:
        if concept in table:
            hidden[list(table.span_of("aliases", table.row(concept)))] = True
    concept_of = table.keys("aliases")
    strings = index.lookup([normalize(name) for _, name in names])
    for string, (gold, _) in zip(strings, names, strict=True):
        rows = index.alias_rows(int(string)) if string >= 0 else np.empty(0, dtype=np.int64)
        hidden[[row for row in rows if table.concept_id(int(concept_of[row])) in gold]] = True
    return hidden


def _names_of(index: AliasIndex, count: int, rng: np.random.Generator) -> list[Name]:
    """Draw names of the dictionary, each with one of the concepts that have it."""
    concept_of = index.table.keys("aliases")
    drawn = rng.choice(len(index), min(count, len(index)), replace=False)
    rows = [(string, int(rng.choice(index.alias_rows(int(string))))) for string in drawn]
    return [
        (
            frozenset([index.table.concept_id(int(concept_of[row]))]),
            str(index.strings[int(string)].as_py()),
        )
        for string, row in rows
    ]


def _words(index: AliasIndex, count: int, rng: np.random.Generator) -> list[str]:
    """Draw everyday words and pairs of them that are no alias."""
    words = [text for text in everyday_words() if has_letters(text)]
    free = np.flatnonzero(index.lookup(words) < 0)
    return [words[row] for row in rng.choice(free, min(count, len(free)), replace=False)]


@cache
def everyday_words() -> tuple[str, ...]:
    """Return the words of spaCy's example sentences in normal form, alone and by twos."""
    found: dict[str, None] = {}
    for sentence in _sentences():
        words = [word.strip(".,;:!?¿¡«»„“”\"'()。、？！") for word in sentence.split()]
        pairs = (" ".join(pair) for pair in pairwise(words))
        found.update((normalize(text), None) for text in [*words, *pairs])
    return tuple(found)


def _sentences() -> Iterator[str]:
    for module in pkgutil.iter_modules(spacy.lang.__path__):
        try:
            examples = importlib.import_module(f"spacy.lang.{module.name}.examples")
        except ImportError:
            continue
        yield from examples.sentences
