"""Which mentions count."""

from collections.abc import Sequence

from training.corpora.dictionary import Dictionary
from training.corpora.schema import GoldMention
from training.errors import BergamotError, Errors, check_choice

PROTOCOLS = {
    "full": "all mentions",
    "filtered": "mentions that, in lower case, are no name of the dictionary (medical_crossing)",
    "filtered_0.2": "of those, mentions to which no name is nearer than 0.2 (Levenshtein distance "
    "through the longer one's length)",
    "not_in_train": "mentions that, in lower case, are no mention of the training queries",
    "zero_shot": "mentions none of whose gold concepts is one of the training queries",
}
_RATIO = 0.2


def membership(
    queries: Sequence[GoldMention],
    dictionary: Dictionary,
    protocol: str,
    *,
    train: Sequence[GoldMention] | None = None,
) -> list[bool]:
    """Tell of every query whether it counts under a protocol.

    RAISES (BergamotError): B014 for an unknown protocol, T113 if it needs training queries.
    """
    check_choice("protocol", protocol, PROTOCOLS)
    if protocol == "full":
        return [True] * len(queries)
    if protocol == "filtered":
        return [_folded(query) not in dictionary for query in queries]
    if protocol == "filtered_0.2":
        mentions = {_folded(query) for query in queries}
        far = {m for m in mentions if m not in dictionary and not has_near_name(m, dictionary)}
        return [_folded(query) in far for query in queries]
    if train is None:
        what, needed = f"The protocol '{protocol}'", "training queries"
        raise BergamotError(Errors.T113, what=what, needed=needed, option="--train")
    if protocol == "not_in_train":
        seen = {_folded(query) for query in train}
        return [_folded(query) not in seen for query in queries]
    known = {concept for query in train for concept in query.concepts}
    return [not query.concepts & known for query in queries]


def has_near_name(mention: str, dictionary: Dictionary) -> bool:
    """Tell whether a name has a normalised Levenshtein distance below 0.2 (strictly)."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extractOne

    # The cutoff is inclusive in rapidfuzz; the protocol's bound is strict.
    near = extractOne(
        mention, dictionary.names, scorer=Levenshtein.normalized_distance, score_cutoff=_RATIO
    )
    return near is not None and near[1] < _RATIO


def _folded(query: GoldMention) -> str:
    return query.mention.lower().strip()
