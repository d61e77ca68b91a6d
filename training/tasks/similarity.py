"""Similarity of names by Spearman's rho, against people's judgement or against a hierarchy.

Judgements are those of UMNSRS and MayoSRS; a hierarchy's scores are of the graded pairs of held-out
names that `preprocess` writes.
"""

import csv
import io
import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.text_files import whole_text
from training.errors import BergamotError, Errors

_COLUMNS = ("mean", "term1", "term2")
_LEAST = 3

logger = logging.getLogger(__name__)


class Judgements(NamedTuple):
    """Pairs of names and their mean judgement, or score; `skipped` rows had none."""

    pairs: list[tuple[str, str]]
    means: list[float]
    skipped: int


def read_judgements(path: Path) -> Judgements:
    """Read a CSV file with the columns Mean, Term1 and Term2, in any case and order.

    RAISES (BergamotError): B001 for a missing file, B091, B049, B057, T128 without these columns,
        T152 if fewer than three rows are left, T161 if their means are all the same.
    """
    pairs, means, skipped = [], [], 0
    rows = csv.reader(io.StringIO(whole_text(path), newline=""))
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        missing = [name for name in _COLUMNS if name not in header]
        if missing:
            found = ", ".join(header)
            raise BergamotError(Errors.T128, path=path, column=missing[0], columns=found)
        places = [header.index(name) for name in _COLUMNS]
        for row in rows:
            try:
                mean, one, other = (row[place].strip() for place in places)
                value = float(mean)
            except (IndexError, ValueError):
                skipped += 1
                continue
            if not (one and other and np.isfinite(value)):
                skipped += 1
                continue
            pairs.append((one, other))
            means.append(value)
    except csv.Error as reason:
        said = f"no table: {reason}"
        raise BergamotError(Errors.B057, path=path, line=rows.line_num, reason=said) from None
    if len(pairs) < _LEAST:
        raise BergamotError(Errors.T152, path=path, count=len(pairs))
    if len(set(means)) == 1:
        raise BergamotError(Errors.T161, path=path, count=len(means), mean=means[0])
    if skipped:
        logger.warning("Skipped %d rows of %s without two terms and a mean", skipped, path)
    return Judgements(pairs, means, skipped)


def correlate(encoder: TextEncoder, judgements: Judgements) -> dict[str, float | None]:
    """Return Spearman's rho of the cosines and the judgements, its p value, and counts.

    Where all cosines are the same, there is no order: rho and p are None.

    encoder (TextEncoder), judgements (Judgements): What gives the cosines, and what they are
        compared with.
    """
    from scipy.stats import spearmanr

    names = list(dict.fromkeys(name for pair in judgements.pairs for name in pair))
    row = {name: number for number, name in enumerate(names)}
    vectors = encoder.encode(names)
    cosines = [float(vectors[row[one]] @ vectors[row[other]]) for one, other in judgements.pairs]
    ordered = len(set(cosines)) > 1
    test = spearmanr(cosines, judgements.means) if ordered else None
    return {
        "spearman": test and float(test.statistic),
        "p": test and float(test.pvalue),
        "pairs": len(judgements.pairs),
        "skipped": judgements.skipped,
    }
