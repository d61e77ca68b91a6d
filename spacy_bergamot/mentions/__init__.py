"""Mentions by dictionary: the component `bergamot_mentions`, and tokens that end where they do."""

from spacy_bergamot.mentions.component import UNGROUPED, BergamotMentions, make_mentions
from spacy_bergamot.mentions.places import NAMES_INSIDE
from spacy_bergamot.mentions.splitting import Place, exact_spans, split_tokens

__all__ = [
    "NAMES_INSIDE",
    "UNGROUPED",
    "BergamotMentions",
    "Place",
    "exact_spans",
    "make_mentions",
    "split_tokens",
]
