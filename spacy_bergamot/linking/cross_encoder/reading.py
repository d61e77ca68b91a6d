"""Which candidates a cross-encoder reads, and what its logits make of their probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spacy_bergamot.linking.candidates import NIL, Candidate

MIX, LOGIT = "mix", "cross_encoder"
_LEAST = 0.01  # what is less probable is not worth reading
_DECIMALS = 6
_SMALLEST = 10.0**-_DECIMALS


def to_read(mixed: Sequence[Candidate], *, margin: float, k: int) -> list[Candidate]:
    """Return the candidates that are worth reading, best first, without NIL; none if it is clear.

    mixed (Sequence[Candidate]): What a learned mix returns, NIL among them, by probability.
    margin (float): A mention is clear if its best two alternatives are this far apart.
    k (int): Candidates at most.
    """
    if len(mixed) < 2 or mixed[0].score - mixed[1].score >= margin:
        return []
    likely = [one for one in mixed if one.concept_id != NIL and one.score >= _LEAST]
    return likely[:k]


def nil_of(mixed: Sequence[Candidate]) -> Candidate:
    """Return NIL among the alternatives of a mention.

    mixed (Sequence[Candidate]): As of `to_read`.
    """
    return next(one for one in mixed if one.concept_id == NIL)


@dataclass(frozen=True)
class Blend:
    """How much the mix and the cross-encoder have to say.

    The alternatives that were read share the probability that the mix gave them all, in proportion
    to exp(mix · log p + logit · s), of NIL times exp(nil), of probabilities p and logits s.
    """

    mix: float = 0.0
    logit: float = 1.0
    nil: float = 0.0

    def shares(self, probabilities: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """Return the probabilities of what was read, NIL last.

        probabilities, logits (float64 (n,)): Of the mix and of the cross-encoder.
        """
        values = self.mix * np.log(np.maximum(probabilities, _SMALLEST)) + self.logit * logits
        values[-1] += self.nil
        shares = np.exp(values - values.max())
        return np.asarray(shares / shares.sum() * probabilities.sum())

    def blended(
        self, mixed: Sequence[Candidate], read: Sequence[Candidate], logits: Sequence[float]
    ) -> list[Candidate]:
        """Return the alternatives of a mention by their new probabilities, best first.

        mixed, read: As of `to_read`. logits: Of what was read, and of NIL.
        """
        both = [*read, nil_of(mixed)]
        before = np.array([one.score for one in both])
        shares = self.shares(before, np.array(logits))
        changed = {
            one.concept_id: replace(
                one,
                score=round(float(share), _DECIMALS),
                scores={**one.scores, MIX: one.score, LOGIT: round(logit, _DECIMALS)},
            )
            for one, share, logit in zip(both, shares, logits, strict=True)
        }
        after = [changed.get(one.concept_id, one) for one in mixed]
        return sorted(after, key=lambda one: -one.score)
