"""Where a mention is linked to nothing, the name inside of it may be.

Of "crushing chest pain" or "无腹痛" (no abdominal pain) the knowledge base has a part. The finder
keeps the names that its mentions stand for in the group `NAMES_INSIDE` of `doc.spans`.
"""

from collections.abc import Callable, Iterable

from spacy.tokens import Doc, Span

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.decision import NIL, Decision
from spacy_bergamot.linking.look_up import LookUp
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import Ordered
from spacy_bergamot.mentions import NAMES_INSIDE

Ask = Callable[[list[list[Mention]]], list[Ordered]]
"""Mentions of documents in, their candidates out."""


class NamesInstead:
    """Puts names in the place of mentions that are linked to nothing.

    look_up (LookUp): Reads mentions.
    decision (Decision): Says what is linked.
    ask (Ask): Finds candidates.
    """

    def __init__(self, look_up: LookUp, decision: Decision, ask: Ask) -> None:
        self.look_up = look_up
        self.decision = decision
        self.ask = ask

    def __call__(self, doc: Doc, found: Ordered) -> Ordered:
        """Make names entities instead of the mentions that they are in, if they alone are linked.

        doc (Doc): Its entities are changed.
        found (list): Candidates of its mentions.
        RETURNS (list): Candidates of what its mentions are then. Those of a group of spans stay.
        """
        if NAMES_INSIDE not in doc.spans or self.look_up.settings.spans_key is not None:
            return found
        candidates = dict(zip(self.look_up.spans(doc), found, strict=True))
        refused = [span for span, of in candidates.items() if not self._is_linked(of)]
        names = _names_inside(doc, refused)
        if not names:
            return found
        (of_names,) = self.ask([self.look_up.of(doc, list(names.values()))])
        linked = {
            mention: (name, of)
            for (mention, name), of in zip(names.items(), of_names, strict=True)
            if self._is_linked(of)
        }
        doc.set_ents([linked[ent][0] if ent in linked else ent for ent in doc.ents])
        return [linked[span][1] if span in linked else of for span, of in candidates.items()]

    def _is_linked(self, candidates: list[Candidate]) -> bool:
        return self.decision.concept_of(candidates) != NIL


def _names_inside(doc: Doc, mentions: Iterable[Span]) -> dict[Span, Span]:
    """Return the names that mentions have inside, by mention: of several the first."""
    names = list(doc.spans[NAMES_INSIDE])
    inside = {
        mention: [name for name in names if mention.start <= name.start and name.end <= mention.end]
        for mention in mentions
    }
    return {mention: found[0] for mention, found in inside.items() if found}
