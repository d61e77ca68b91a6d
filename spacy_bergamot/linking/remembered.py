"""RememberedCandidates: a generator that looks every mention up once and remembers it."""

from collections.abc import Sequence

from spacy_bergamot.linking.candidates import Candidate, CandidateGenerator
from spacy_bergamot.linking.mention import Query
from spacy_bergamot.linking.recent import Recent
from spacy_bergamot.linking.updated_generator import UpdatedGenerator


class RememberedCandidates:
    """Looks up what it does not remember; any thread may ask at any time.

    generator: What proposes candidates.
    k (int): How many of every mention.
    most (int): Mentions that are remembered, those used last; 0 for none.
    """

    def __init__(
        self, generator: CandidateGenerator | UpdatedGenerator, *, k: int, most: int
    ) -> None:
        self.generator = generator
        self.k = k
        self._recent: Recent[Query, list[Candidate]] = Recent(most)

    def __len__(self) -> int:
        return len(self._recent)

    def __call__(self, asked: Sequence[Query]) -> list[list[Candidate]]:
        """Return the candidates of every one that is asked for, best first."""
        distinct = dict.fromkeys(asked)
        known = self._recent.known(distinct)
        fresh = [one for one in distinct if one not in known]
        found = self.generator.generate(fresh, k=self.k) if fresh else []
        known.update(zip(fresh, found, strict=True))
        self._recent.keep(known)
        return [known[one] for one in asked]

    def after_fork(self) -> None:
        """Be usable in a forked process: a lock that a thread held at the fork stays locked."""
        self._recent = self._recent.copy()
