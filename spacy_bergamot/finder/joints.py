"""Joints: units that stand between mentions, where a language model half takes them for inside.

A token classifier goes on over an "and" from one mention to the next, or stops a word too late:
"infarto de miocardio y long QT", "asma y". Where it doubts such a unit itself, the unit is outside.
In "breast and ovarian cancer" it has no doubt.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.mentions.language import coordinators, stop_words
from spacy_bergamot.scripts import lacks_spaces

DOUBT, EDGE_DOUBT = 0.4, 0.1
"""Probability of being outside from which a unit inside of a mention, or at its end, is so: chosen
on the development part of the NCBI disease corpus and the sample's gold sentences."""

_PUNCTUATION = frozenset(",;/，；、،")
_OPENING, _CLOSING = frozenset("([（［"), frozenset(")]）］")


class Joints(NamedTuple):
    """Which units may be joints.

    between (bool (units,)): Coordinators, commas and the like: mentions may be cut there.
    loose (bool (units,)): Stop words in small letters, and punctuation: no mention may end there.
    depth (int64 (units,)): 1 for an opening bracket, -1 for a closing one: a mention ends before
        one without its partner.
    """

    between: np.ndarray
    loose: np.ndarray
    depth: np.ndarray


def joints_of(units: Sequence[str], languages: Sequence[str]) -> Joints:
    """Return the joints of a text.

    units (list[str]): The texts of its units.
    languages (list[str]): That it is in, or may be in, as in MRCONSO.RRF.
    """
    between = _PUNCTUATION | coordinators(tuple(languages))
    stops = stop_words(tuple(languages))
    return Joints(
        np.array([unit in between for unit in units], dtype=bool),
        np.array([_is_loose(unit, stops) for unit in units], dtype=bool),
        np.array([(unit in _OPENING) - (unit in _CLOSING) for unit in units], dtype=np.int64),
    )


def beside(joints: Joints, names: Sequence[tuple[int, int]]) -> Joints:
    """Return the joints of a text in which names of a knowledge base are marked.

    Mentions are cut beside a name alone.

    names: First unit of each, and one behind its last.
    """
    near = np.zeros(len(joints.between) + 2, dtype=bool)
    for first, stop in names:
        near[[first, stop + 1]] = True
    return joints._replace(between=joints.between & near[1:-1])


def _is_loose(unit: str, stops: frozenset[str]) -> bool:
    if not any(map(str.isalnum, unit)):
        return unit not in _OPENING | _CLOSING  # the end of "pain (chest)"
    return unit in stops and not lacks_spaces(unit)
