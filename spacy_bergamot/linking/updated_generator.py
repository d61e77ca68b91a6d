"""UpdatedGenerator: candidates from an index and from what was added to it since."""

from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from spacy_bergamot.encoder.text_encoder import CachingEncoder, TextEncoder
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.linking.candidates import Candidate, CandidateGenerator, Dropped, Ranked
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import EnsembleGenerator, Generator


def make_generator(
    encoder: TextEncoder,
    index: AliasIndex,
    allowed: CandidateFilter,
    *,
    k: int,
    generator: Generator | EnsembleGenerator,
    changes: Changes | None = None,
    hidden: np.ndarray | None = None,
) -> "CandidateGenerator | UpdatedGenerator":
    """Make the generator of an index, and of its changes where there are any.

    hidden (np.ndarray | None): bool, aliases of the index that are not to be proposed either.
    """
    removed = changes.removed if changes else None
    if hidden is not None:
        removed = hidden if removed is None else hidden | removed
    base = CandidateGenerator(encoder, index, allowed, k=k, generator=generator, removed=removed)
    if changes is None or changes.added is None:
        return base
    allowed_here = allowed.for_added_concepts(index.table, changes.added.table)
    if allowed_here is None:
        return base
    added = CandidateGenerator(encoder, changes.added, allowed_here, k=k, generator=generator)
    return UpdatedGenerator(base, added)


class UpdatedGenerator:
    """Unite the candidates of two generators; of a concept in both, the better one counts."""

    def __init__(self, base: CandidateGenerator, added: CandidateGenerator) -> None:
        self.base = base
        self.added = added
        self.encoder = base.encoder
        self.index = base.index

    @property
    def k(self) -> int:
        """Candidates of a mention; set, both generators propose as many."""
        return self.base.k

    @k.setter
    def k(self, value: int) -> None:
        self.base.k = self.added.k = value

    def generate(self, mentions: Sequence[tuple[str, str]]) -> list[list[Candidate]]:
        """Return the candidates of (mention, entity label) pairs, best first."""
        encoder = CachingEncoder(self.encoder)
        found = self.base.find(mentions, encoder=encoder)
        added = self.added.find(mentions, encoder=encoder, beside=found)
        ranked = zip(map(self.base.rank, found), map(self.added.rank, added), strict=True)
        return [self._merged(*pair) for pair in ranked]

    def dropped(self, mention: str, label: str = "") -> list[Dropped]:
        """Return what the generators find for a mention and the filters drop, and why."""
        return [*self.base.dropped(mention, label), *self.added.dropped(mention, label)]

    def _merged(self, found: list[Ranked], added: list[Ranked]) -> list[Candidate]:
        best: dict[str, Ranked] = {}
        for ranked in [*found, *added]:
            known = best.setdefault(ranked.candidate.concept_id, ranked)
            if ranked.place < known.place:
                best[ranked.candidate.concept_id] = ranked
        in_order = sorted(best.values(), key=itemgetter(0))
        return [candidate for _, candidate in in_order[: self.k]]
