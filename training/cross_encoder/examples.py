"""Mentions that a cross-encoder learns from: those that a learned mix is in doubt of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.cross_encoder.reading import nil_of, to_read
from spacy_bergamot.linking.learned_mix import BEFORE, LearnedMix
from spacy_bergamot.linking.mention import Mention
from training.cross_encoder.recipe import Recipe
from training.rerank.candidates import Document
from training.rerank.run import Observed


class Example(NamedTuple):
    """A mention of which candidates are read.

    row (int): Among the observed.
    mixed (list[Candidate]): What the mix makes of its candidates, NIL among them.
    read (list[Candidate]): Those that are read.
    right (bool (n + 1,)): Of what is read, and of NIL; one at least.
    """

    row: int
    mention: Mention
    mixed: list[Candidate]
    read: list[Candidate]
    right: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """The generator's scores of what is read, float32 (n,)."""
        return np.array([one.scores[BEFORE] for one in self.read], dtype=np.float32)

    @property
    def probabilities(self) -> np.ndarray:
        """The mix's probabilities of what is read, and of NIL, float64 (n + 1,)."""
        return np.array([one.score for one in (*self.read, nil_of(self.mixed))])


def rows_of(observed: Observed, documents: Sequence[Document], whole: int) -> np.ndarray:
    """Return the mentions that count.

    whole (int): All of so many documents count; those that follow are the same with concepts
        hidden, and the mentions of these concepts count.
    """
    hidden = [
        documents[of].golds[at].is_hidden
        for of, at in zip(observed.documents, observed.places, strict=True)
    ]
    return np.flatnonzero((observed.documents < whole) | np.array(hidden, dtype=bool))


def mixed_of(
    observed: Observed, documents: Sequence[Document], rows: np.ndarray, mix: LearnedMix
) -> dict[int, list[Candidate]]:
    """Return what a mix makes of the candidates of some mentions, by their rows."""
    return {
        row: mix.mixed(
            documents[observed.documents[row]].candidates[observed.places[row]], observed.seen[row]
        )
        for row in rows.tolist()
    }


def examples_of(
    observed: Observed,
    documents: Sequence[Document],
    mixed: Mapping[int, list[Candidate]],
    recipe: Recipe,
    counts: Counter[str],
) -> list[Example]:
    """Return the mentions that are read; count the others. mixed: As of `mixed_of`."""
    examples = []
    for row, found in mixed.items():
        read = to_read(found, margin=recipe.margin, k=recipe.k)
        if not read:
            counts["clear without being read"] += 1
            continue
        document, place = documents[observed.documents[row]], observed.places[row]
        right = [one.concept_id in document.golds[place].concepts for one in read]
        if observed.right[row].any() and not any(right):
            counts["gold that is too improbable to be read"] += 1
            continue
        counts["read"] += 1
        both = np.array([*right, not any(right)])
        examples.append(Example(row, document.mentions[place], found, read, both))
    return examples


def once_a_document(examples: Sequence[Example], observed: Observed) -> list[Example]:
    """Return the examples without those that repeat a mention of their document."""
    first: dict[tuple[int, str, str], Example] = {}
    for one in examples:
        key = int(observed.documents[one.row]), one.mention.text, one.mention.label
        first.setdefault(key, one)
    return list(first.values())
