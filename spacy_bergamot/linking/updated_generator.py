"""UpdatedGenerator: candidates from an index and from what was added to it since."""

from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from spacy_bergamot.encoder.text_encoder import CachingEncoder, TextEncoder
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.linking.candidates import Candidate, CandidateGenerator, Ranked
from spacy_bergamot.linking.dropped import Dropped, each_once
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import EnsembleGenerator, Generator
from spacy_bergamot.linking.mention import Query


def make_generator(
    encoder: TextEncoder,
    index: AliasIndex,
    allowed: CandidateFilter,
    *,
    generator: Generator | EnsembleGenerator,
    changes: Changes | None = None,
    hidden: np.ndarray | None = None,
) -> "CandidateGenerator | UpdatedGenerator":
    """Make the generator of an index, and of its changes where there are any.

    encoder (TextEncoder): The language model.
    index (AliasIndex): Searched.
    allowed (CandidateFilter): What may be proposed.
    generator: What proposes strings.
    changes (Changes | None): Of the index.
    hidden (np.ndarray | None): bool, aliases of the index that are not to be proposed either.
    """
    removed = changes.removed if changes else None
    if hidden is not None:
        removed = hidden if removed is None else hidden | removed
    base = CandidateGenerator(encoder, index, allowed, generator=generator, removed=removed)
    if changes is None or changes.added is None:
        return base
    allowed_here = allowed.for_added_concepts(index.table, changes.added.table)
    if allowed_here is None:
        return base
    added = CandidateGenerator(encoder, changes.added, allowed_here, generator=generator)
    return UpdatedGenerator(base, added)


class UpdatedGenerator:
    """Unite the candidates of two generators; of a concept in both, the better one counts."""

    def __init__(self, base: CandidateGenerator, added: CandidateGenerator) -> None:
        self.base = base
        self.added = added
        self.encoder = base.encoder
        self.index = base.index

    def generate(
        self, mentions: Sequence[Query | tuple[str, str]], *, k: int
    ) -> list[list[Candidate]]:
        """Return up to k candidates of every mention, best first.

        mentions (Sequence[Query | tuple[str, str]]): As of `CandidateGenerator.generate`.
        k (int): Concepts.
        """
        encoder = CachingEncoder(self.encoder)
        found = self.base.find(mentions, k=k, encoder=encoder)
        added = self.added.find(mentions, k=k, encoder=encoder, beside=found)
        return [
            _merged(self.base.rank(one, k=k), self.added.rank(other, k=k))[:k]
            for one, other in zip(found, added, strict=True)
        ]

    def dropped(self, query: Query, *, k: int) -> list[Dropped]:
        """Return what the generators find for a mention and the filters drop, and why.

        query (Query): The mention.
        k (int): Of 4 k aliases that each generator finds.
        """
        return each_once([*self.base.dropped(query, k=k), *self.added.dropped(query, k=k)])


def _merged(found: list[Ranked], added: list[Ranked]) -> list[Candidate]:
    """Return the candidates of two generators in order; of a concept in both, the better one."""
    best: dict[str, Ranked] = {}
    for ranked in [*found, *added]:
        known = best.setdefault(ranked.candidate.concept_id, ranked)
        if ranked.place < known.place:
            best[ranked.candidate.concept_id] = ranked
    return [candidate for _, candidate in sorted(best.values(), key=itemgetter(0))]
