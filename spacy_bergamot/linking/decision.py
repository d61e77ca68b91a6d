"""Which candidates of a mention are links, and which one is its concept.

NIL may be among the candidates, where a reranker or an unexplained short form puts it: those
behind it are no links.
"""

from collections.abc import Sequence
from itertools import takewhile

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.linking.unexplained import UNEXPLAINED

__all__ = ["NIL", "Decision"]


class Decision:
    """Decides by the thresholds of the settings. kb (KnowledgeBase): Where definitions are."""

    def __init__(self, settings: LinkerSettings, kb: KnowledgeBase) -> None:
        self.settings = settings
        self.kb = kb

    def links(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that may be linked to, in their order."""
        before = takewhile(lambda one: one.concept_id != NIL, candidates)
        return [one for one in before if self._is_known(one) and not self._doubt(one)]

    def concept_of(self, candidates: Sequence[Candidate]) -> str:
        """Return the id of the best candidate, or NIL if that one may not be linked to.

        candidates (Sequence[Candidate]): Of a mention, best first.
        """
        best = self._best(candidates)
        return best.concept_id if best is not None and not self._doubt(best) else NIL

    def reason(self, candidates: Sequence[Candidate]) -> str:
        """Say why the concept of a mention is NIL; nothing if it is not.

        candidates (Sequence[Candidate]): Of a mention, best first.
        """
        if not candidates:
            return "nothing was found"
        best = self._best(candidates)
        if best is None:
            least = self.settings.no_definition_threshold
            return f"no concept has a definition or a score of {least}"
        return self._doubt(best)

    def _best(self, candidates: Sequence[Candidate]) -> Candidate | None:
        return next(filter(self._is_known, candidates), None)

    def _is_known(self, candidate: Candidate) -> bool:
        """Whether a concept is defined, where that is asked for and the score leaves a doubt."""
        settings = self.settings
        if candidate.concept_id == NIL:
            return True
        sure = candidate.score >= settings.no_definition_threshold
        asked = settings.filter_for_definitions and not sure
        return not asked or self.kb.has_definition(candidate.concept_id)

    def _doubt(self, candidate: Candidate) -> str:
        """Say which threshold a candidate does not reach, or that it is NIL."""
        if candidate.generator == UNEXPLAINED:
            return "neither the text nor a list says what this short form means"
        if candidate.concept_id == NIL:
            return f"no candidate fits better than NIL, whose score is {candidate.score:.4g}"
        threshold, least = self.settings.threshold, self.settings.min_probability
        if threshold is not None and candidate.score < threshold:
            return f"the best score, {candidate.score:.4g}, is below threshold, {threshold}"
        probability = candidate.probability
        if least is not None and probability is not None and probability < least:
            return f"the best probability, {probability}, is below min_probability, {least}"
        return ""
