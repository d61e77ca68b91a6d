"""Which mentions count: full, filtered, filtered_0.2 (medical_crossing's sets)."""

from training.evaluate.dictionary import Dictionary
from training.evaluate.readers import Query

PROTOCOLS = ("full", "filtered", "filtered_0.2")
_RATIO = 0.2


def select(queries: list[Query], dictionary: Dictionary, protocol: str) -> list[Query]:
    """Return the queries of a protocol; duplicates are kept.

    full: all. filtered: the mention (lower case, stripped) is no name of the dictionary.
    filtered_0.2: of those, no name is nearer than Levenshtein / longest length < 0.2.
    """
    if protocol == "full":
        return queries
    kept = [query for query in queries if _folded(query) not in dictionary.rows]
    if protocol == "filtered":
        return kept
    return [query for query in kept if not has_near_name(_folded(query), dictionary)]


def has_near_name(mention: str, dictionary: Dictionary) -> bool:
    """Tell whether a name has a normalised Levenshtein distance below 0.2 (strictly)."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extractOne

    # The cutoff is inclusive in rapidfuzz; the protocol's bound is strict.
    near = extractOne(
        mention, dictionary.names, scorer=Levenshtein.normalized_distance, score_cutoff=_RATIO
    )
    return near is not None and near[1] < _RATIO


def _folded(query: Query) -> str:
    return query.mention.lower().strip()
