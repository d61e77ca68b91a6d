"""Mentions whose answers are known without a gold corpus, for `BergamotLinker.calibrate_on`.

A linker meets five kinds of mentions, and has to refuse two of them:

- names as the dictionary has them,
- names of the dictionary with a misspelt word,
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
from spacy_bergamot.languages import lat
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention, Query
from spacy_bergamot.linking.rerank import rerank_documents
from spacy_bergamot.linking.written import as_written
from spacy_bergamot.mentions.misspelt import LEAST
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.scripts import lacks_spaces
from spacy_bergamot.text import has_letters, normalize


class Name(NamedTuple):
    """Concept ids, any of which is right, a name, and its language, empty if unknown."""

    concepts: frozenset[str]
    text: str
    language: str = ""


_MISSING = 4
"""One of so many concepts is hidden with all its names."""
_MOST = 4000
_MISSPELT = 12
"""For so many held-out names a name of the dictionary is misspelt: notes have more, and what such
mentions teach is learned from few."""


class Answers(NamedTuple):
    """Mentions, their candidates, best first, and the right concepts of each (none for NIL)."""

    mentions: list[Mention]
    candidates: list[list[Candidate]]
    golds: list[frozenset[str]]


def answers(linker: BergamotLinker, names: Sequence[Name], *, seed: int = 0) -> Answers:
    """Ask a linker for mentions of the five kinds, each a document of its own for its reranker.

    names: Held-out names, which the language model was best not trained on; at most 4,000 of them
        are taken. Of every eight mentions four are such names, one of them of a concept that is
        hidden; two are names of the dictionary, and two are everyday words.
    seed (int): Of what is drawn.
    """
    rng = np.random.default_rng(seed)
    if len(names) > _MOST:
        names = [names[row] for row in sorted(rng.choice(len(names), _MOST, replace=False))]
    index = linker.parts.index
    concepts = sorted(set(chain.from_iterable(name.concepts for name in names)))
    missing = {one for one in concepts if not rng.integers(_MISSING)}
    k = linker.settings.k
    hidden = linker.parts.hiding(_rows(index, names, missing)).generate(
        [_query(name) for name in names], k=k
    )
    asked = [
        *_misspelt(index, len(names) // _MISSPELT, rng),
        *_names_of(index, len(names) // 2, rng),
        *_words(index, len(names) // 2, rng),
    ]
    shown = linker.generator.generate([_query(name) for name in asked], k=k)
    known = [name._replace(concepts=name.concepts - missing) for name in names]
    rows = zip([*known, *asked], [*hidden, *shown], strict=True)
    # A name that another concept shares is no example of a missing concept.
    kept = [(name, found) for name, found in rows if name.concepts or not _is_exact(found)]
    mentions = [Mention.alone(name.text, name.language) for name, _ in kept]
    written = [as_written(m, found, index) for m, (_, found) in zip(mentions, kept, strict=True)]
    return Answers(
        mentions,
        _reranked(linker, mentions, written),
        [name.concepts for name, _ in kept],
    )


def _query(name: Name) -> Query:
    mention = Mention.alone(name.text, name.language)
    return Query(mention.text, "", mention.languages)


def _reranked(
    linker: BergamotLinker, mentions: list[Mention], found: list[list[Candidate]]
) -> list[list[Candidate]]:
    """Return the candidates as the linker's reranker changes them."""
    parts = linker.parts
    if parts.reranker is None:
        return found
    asked = [[mention] for mention in mentions]
    changed = rerank_documents(parts.reranker, asked, [[one] for one in found], parts.kb)
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
    strings = index.lookup([normalize(name.text) for name in names])
    for string, name in zip(strings, names, strict=True):
        rows = index.alias_rows(int(string)) if string >= 0 else np.empty(0, dtype=np.int64)
        own = [row for row in rows if table.concept_id(int(concept_of[row])) in name.concepts]
        hidden[own] = True
    return hidden


def _names_of(index: AliasIndex, count: int, rng: np.random.Generator) -> list[Name]:
    """Draw names of the dictionary, each with the concepts that have it in a language.

    Any of them is right: which one is meant, no name by itself can say.
    """
    table = index.table
    concept_of, language_of = table.keys("aliases"), table.column("aliases", "language")
    drawn = rng.choice(len(index), min(count, len(index)), replace=False)
    rows = [(string, int(rng.choice(index.alias_rows(int(string))))) for string in drawn]
    names = []
    for string, row in rows:
        language = str(language_of[row].as_py())
        same = [n for n in index.alias_rows(int(string)) if language_of[n].as_py() == language]
        concepts = frozenset(table.concept_id(int(concept_of[n])) for n in same)
        names.append(Name(concepts, str(index.strings[int(string)].as_py()), language))
    return names


def _misspelt(index: AliasIndex, count: int, rng: np.random.Generator) -> list[Name]:
    """Draw names of the dictionary, and misspell a word of each; no alias comes of it."""
    found = []
    for name in _names_of(index, 2 * count, rng):
        words = name.text.split()
        long = [
            number
            for number, word in enumerate(words)
            if len(word) >= LEAST and word.isalpha() and not lacks_spaces(word)
        ]
        if long:
            number = int(rng.choice(long))
            words[number] = _edited(words[number], rng)
            found.append(name._replace(text=" ".join(words)))
    strings = index.lookup([normalize(name.text) for name in found])
    return [name for name, string in zip(found, strings, strict=True) if string < 0][:count]


def _edited(word: str, rng: np.random.Generator) -> str:
    """Return a word with one letter less, more or other, or two swapped, behind its first."""
    at, letter = int(rng.integers(1, len(word) - 1)), str(rng.choice(list(word)))
    begin, here, behind, end = word[:at], word[at], word[at + 1], word[at + 2 :]
    edits = (behind, letter + here + behind, letter + behind, behind + here)
    return begin + str(rng.choice(edits)) + end


def _words(index: AliasIndex, count: int, rng: np.random.Generator) -> list[Name]:
    """Draw everyday words and pairs of them that are no alias.

    Their language is unknown where no alias is in it, as no held-out name is: else they alone would
    say how probable an alias in another language is.
    """
    words = {text: of for text, of in everyday_words().items() if has_letters(text)}
    texts = list(words)
    known = set(map(lat, index.table.column("aliases", "language").unique().to_pylist()))
    free = np.flatnonzero(index.lookup(texts) < 0)
    drawn = [texts[row] for row in rng.choice(free, min(count, len(free)), replace=False)]
    return [Name(frozenset(), word, words[word] if words[word] in known else "") for word in drawn]


@cache
def everyday_words() -> dict[str, str]:
    """Return the words of spaCy's example sentences in normal form, alone and by twos.

    RETURNS (dict[str, str]): Their languages: the first that has them.
    """
    found: dict[str, str] = {}
    for language, sentence in _sentences():
        words = [word.strip(".,;:!?¿¡«»„“”\"'()。、？！") for word in sentence.split()]
        pairs = (" ".join(pair) for pair in pairwise(words))
        for text in [*words, *pairs]:
            found.setdefault(normalize(text), language)
    return found


def _sentences() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(spacy.lang.__path__):
        try:
            examples = importlib.import_module(f"spacy.lang.{module.name}.examples")
        except ImportError:
            continue
        for sentence in examples.sentences:
            yield lat(module.name), sentence
