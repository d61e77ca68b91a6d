"""How sure it is that two concepts are the same: by rule, or as seeds teach."""

from typing import NamedTuple

import numpy as np

from training.align.pairs import Pairs
from training.errors import BergamotError, Errors

LEAST = 10
"""Seeds among the pairs below which nothing is learned."""

THRESHOLD = 0.5
"""Confidence from which a pair is taken, of a fit: a probability."""

THRESHOLD_BY_RULE = 0.8
"""The same without seeds."""

_UNSURE = 0.85
_STRENGTH = 1.0  # of the fit; scikit-learn's C
_SEED = 0


class Confidence(NamedTuple):
    """Confidence of every pair (float64 (n,)), and that from which a pair is taken."""

    values: np.ndarray
    threshold: float


def by_rule(pairs: Pairs) -> Confidence:
    """Return confidence without seeds.

    A name that is the same and means one concept on either side says all, one of the same folded
    form nearly all; else the score by which mentions are linked counts, short of both.
    """
    score, exact, unique = (pairs.feature(name) for name in ("score", "exact", "unique"))
    values = np.maximum(np.clip(score, 0.0, _UNSURE), 0.95 * unique)
    return Confidence(np.where(exact * unique > 0, 1.0, values), THRESHOLD_BY_RULE)


def learned(pairs: Pairs, seeds: np.ndarray) -> Confidence:
    """Return probabilities by a logistic regression on what is known of seeds.

    Pairs of a concept that a seed names are right if they are that seed, else wrong.

    seeds (int64 (m, 2)): Left and right rows.
    RAISES (BergamotError): T319 if too few seeds are among the pairs.
    """
    from sklearn.linear_model import LogisticRegression

    right_of, left_of = dict(seeds.tolist()), dict(seeds[:, ::-1].tolist())
    both = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    seen = np.array([one in right_of or other in left_of for one, other in both], dtype=bool)
    right = np.array([right_of.get(one) == other for one, other in both], dtype=bool)
    if right.sum() < LEAST or right.sum() == seen.sum():
        facts = {"count": int(right.sum()), "seeds": len(seeds), "least": LEAST}
        raise BergamotError(Errors.T319, **facts)
    model = LogisticRegression(C=_STRENGTH, max_iter=1000, random_state=_SEED)
    model.fit(pairs.features[seen], right[seen])
    return Confidence(model.predict_proba(pairs.features)[:, 1], THRESHOLD)


def tuned(pairs: Pairs, confidence: Confidence, known: np.ndarray) -> Confidence:
    """Return the same with the threshold at which the best pair of each known concept has best F1.

    Where few pairs are right, probabilities may all be small, and in the right order all the same.

    known (int64 (n, 2)): Left and right rows that are the same.
    """
    right_of = dict(known.tolist())
    seen = np.flatnonzero(np.isin(pairs.left, known[:, 0]))
    seen = seen[np.lexsort((-confidence.values[seen], pairs.left[seen]))]
    best = seen[np.unique(pairs.left[seen], return_index=True)[1]]
    best = best[np.argsort(-confidence.values[best], kind="stable")]
    rights = zip(pairs.left[best].tolist(), pairs.right[best].tolist(), strict=True)
    hits = np.cumsum([right_of[one] == other for one, other in rights])
    taken = np.arange(1, len(best) + 1)
    last = int(np.argmax(2 * hits / (taken + len(known))))
    return Confidence(confidence.values, float(confidence.values[best[last]]))


def one_to_one(pairs: Pairs, confidence: Confidence) -> np.ndarray:
    """Return which pairs are taken, bool (n,), each concept once at most.

    Of all choices it is the one with the largest sum of what confidences have beyond the threshold
    (Jonker and Volgenant 1987).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    taken = np.zeros(len(pairs.left), dtype=bool)
    gain = confidence.values - confidence.threshold
    open_pairs = np.flatnonzero(gain >= 0)
    if not len(open_pairs):
        return taken
    lefts, rows = np.unique(pairs.left[open_pairs], return_inverse=True)
    rights, columns = np.unique(pairs.right[open_pairs], return_inverse=True)
    # Every left concept may stay alone, with a column of its own. A cost of 0 would be no edge, and
    # of equal ones the earlier pair is to be taken, whatever the platform.
    alone = np.arange(len(lefts))
    costs = np.concatenate([2.0 - gain[open_pairs], np.full(len(lefts), 2.0 + 1e-9)])
    places = (np.concatenate([rows, alone]), np.concatenate([columns, len(rights) + alone]))
    graph = csr_matrix((costs, places), shape=(len(lefts), len(rights) + len(lefts)))
    chosen_rows, chosen_columns = min_weight_full_bipartite_matching(graph)
    chosen = dict(zip(chosen_rows.tolist(), chosen_columns.tolist(), strict=True))
    matched = np.array([chosen[row] == column for row, column in zip(rows, columns, strict=True)])
    taken[open_pairs[matched]] = True
    return taken


def reason(pairs: Pairs, row: int) -> str:
    """Return SSSOM's justification of a pair."""
    if pairs.same_name[row]:
        return "semapv:LexicalMatching"
    return "semapv:SemanticSimilarityThresholdMatching"
