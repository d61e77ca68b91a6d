"""Mentions by a trained token classifier: the component `bergamot_finder`."""

from spacy_bergamot.finder.component import BergamotFinder, make_finder
from spacy_bergamot.finder.tagger import Tagger

__all__ = ["BergamotFinder", "Tagger", "make_finder"]
