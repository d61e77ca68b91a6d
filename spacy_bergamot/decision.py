"""Which candidates of a mention are links, and which one is its concept."""

from collections.abc import Sequence

from spacy.pipeline import EntityLinker

from spacy_bergamot.candidates import Candidate
from spacy_bergamot.kb import KnowledgeBase
from spacy_bergamot.settings import LinkerSettings

NIL = EntityLinker.NIL


class Decision:
    """Decides by the thresholds of the settings. kb (KnowledgeBase): Where definitions are."""

    def __init__(self, settings: LinkerSettings, kb: KnowledgeBase) -> None:
        self.settings = settings
        self.kb = kb

    def links(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that may be linked to, in their order."""
        return [one for one in candidates if self._is_known(one) and self._passes(one)]

    def concept_of(self, candidates: Sequence[Candidate]) -> str:
        """Return the id of the best candidate, or NIL if that one may not be linked to."""
        best = next(filter(self._is_known, candidates), None)
        return best.concept_id if best is not None and self._passes(best) else NIL

    def _is_known(self, candidate: Candidate) -> bool:
        """Whether a concept is defined, where that is asked for and the score leaves a doubt."""
        settings = self.settings
        sure = candidate.score >= settings.no_definition_threshold
        asked = settings.filter_for_definitions and not sure
        return not asked or self.kb.has_definition(candidate.concept_id)

    def _passes(self, candidate: Candidate) -> bool:
        threshold, least = self.settings.threshold, self.settings.min_probability
        if threshold is not None and candidate.score < threshold:
            return False
        return least is None or candidate.probability is None or candidate.probability >= least
