"""UpdatedGenerator: candidates from an index and from what was added to it since."""

from collections.abc import Sequence

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.candidates import Candidate, CandidateGenerator, Dropped
from spacy_bergamot.changes import Changes
from spacy_bergamot.filters import CandidateFilter
from spacy_bergamot.generators import EnsembleGenerator, Generator
from spacy_bergamot.text_encoder import EncodesOnce, TextEncoder


def make_generator(
    encoder: TextEncoder,
    index: AliasIndex,
    allowed: CandidateFilter,
    *,
    k: int,
    generator: Generator | EnsembleGenerator,
    changes: Changes | None = None,
) -> "CandidateGenerator | UpdatedGenerator":
    """Make the generator of an index, and of its changes where there are any."""
    removed = changes.removed if changes else None
    base = CandidateGenerator(encoder, index, allowed, k=k, generator=generator, removed=removed)
    if changes is None or changes.added is None:
        return base
    allowed_here = allowed.of_added(index.table, changes.added.table)
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
        encoder = EncodesOnce(self.encoder)
        found = self.base.find(mentions, encoder=encoder)
        added = self.added.find(mentions, encoder=encoder, beside=found)
        ranked = zip(map(self.base.rank, found), map(self.added.rank, added), strict=True)
        return [self._united(*pair) for pair in ranked]

    def dropped(self, mention: str, label: str = "") -> list[Dropped]:
        """Return what the generators find for a mention and the filters drop, and why."""
        return [*self.base.dropped(mention, label), *self.added.dropped(mention, label)]

    def _united(self, found: list[Candidate], added: list[Candidate]) -> list[Candidate]:
        best: dict[str, Candidate] = {}
        for candidate in [*found, *added]:
            known = best.get(candidate.concept_id)
            if known is None or candidate.score > known.score:
                best[candidate.concept_id] = candidate
        ranked = sorted(best.values(), key=lambda one: (-one.score, self._other_name(one)))
        return ranked[: self.k]

    def _other_name(self, candidate: Candidate) -> tuple[bool, str]:
        """Sort concepts whose preferred name was found before others, then by id."""
        for table in (self.base.index.table, self.added.index.table):
            row = table.find(candidate.concept_id)
            if row is not None:
                return candidate.alias != table.name(row), candidate.concept_id
        return True, candidate.concept_id
