"""Short forms that nothing explains: what they are a name of, they are by chance.

Large knowledge bases have a rare disease for most abbreviations of two or three letters. In 208
clinical notes and 100 abstracts, 8 of 40 links by such a name alone were right ("CP" is not
cerebral palsy, "DM" not dermatomyositis), 205 of 225 where text or list said what they mean.
"""

import re
from collections.abc import Collection
from functools import cached_property

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import Ordered
from spacy_bergamot.mentions.table_names import crowded, is_short_form
from spacy_bergamot.name_keys import ABBREVIATION
from spacy_bergamot.text import half_width

UNEXPLAINED = "unexplained short form"
"""What proposes NIL for them."""

_CAPITALS = re.compile("[A-Z].*[a-z].*[A-Z]")  # some of them: "MetS"
_NIL = Candidate(NIL, 1.0, "", "", "", UNEXPLAINED)


class Unexplained:
    """Puts NIL before the candidates of short forms that neither text nor list explains.

    It is so of the lengths of which too many are names, within a text: by itself a short form is
    somebody's question. What somebody added to the knowledge base is a name.

    kb (KnowledgeBase): The names.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    def __call__(self, mentions: list[list[Mention]], candidates: list[Ordered]) -> list[Ordered]:
        """Return the candidates, behind NIL where a mention is such a short form.

        mentions (list[list[Mention]]): Of documents.
        candidates (list[Ordered]): Of every mention, best first.
        """
        return [
            [
                [_NIL, *found] if found and self._is_unexplained(mention, found[0]) else found
                for mention, found in zip(of, found_of, strict=True)
            ]
            for of, found_of in zip(mentions, candidates, strict=True)
        ]

    def _is_unexplained(self, mention: Mention, best: Candidate) -> bool:
        written = half_width(mention.surface.strip())
        # "dm" and "mets" are no "DM" and "MetS" either.
        short = best.alias if best.generator == "exact" else written
        crowd = is_short_form(short) and len(short) in self._lengths
        other = len(short) <= ABBREVIATION and _CAPITALS.search(short) and short != written
        if mention.long_form or not (crowd or other) or mention.context == mention.surface:
            return False
        return not (mention.context.isupper() or self.kb.named(written, added=True))

    @cached_property
    def _lengths(self) -> Collection[int]:
        return crowded(self.kb.table)
