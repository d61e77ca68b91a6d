"""Search engines over unit vectors: build into a folder, open, search by cosine.

An engine is a class with a `name`, `build(folder, vectors, **settings)`, `open(folder, **settings)`
`search(vectors, k)` and `vectors(rows)`; `ENGINES` finds it by name. It may also have
`grow(folder, vectors, sources)`, as `UsearchEngine` has. One of another distribution is named in
its entry points `spacy_bergamot_engines`.
"""

from typing import Any, Protocol

import catalogue
import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.engines.common import Vectors
from spacy_bergamot.index.engines.exact import ExactEngine
from spacy_bergamot.index.engines.nmslib import NmslibEngine
from spacy_bergamot.index.engines.nmslib_file import import_nmslib
from spacy_bergamot.index.engines.usearch import UsearchEngine, import_usearch

__all__ = [
    "ENGINES",
    "Engine",
    "ExactEngine",
    "NmslibEngine",
    "UsearchEngine",
    "Vectors",
    "engine_class",
    "require_engine",
]

ENGINES = catalogue.create("spacy_bergamot", "engines", entry_points=True)
ENGINES.register("nmslib", func=NmslibEngine)
ENGINES.register("usearch", func=UsearchEngine)
ENGINES.register("exact", func=ExactEngine)

_PACKAGES = {"nmslib": import_nmslib, "usearch": import_usearch}


class Engine(Protocol):
    """What an alias index searches with."""

    name: str

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (int64) and cosines (float32), both (n, k), best first; -1 fills up."""
        ...

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the unit vectors of some rows, float32 (n, d)."""
        ...


def engine_class(name: str) -> Any:
    """Return an engine's class by name. RAISES (BergamotError): B020 if there is none."""
    if name not in ENGINES:
        choices = ", ".join(sorted(ENGINES.get_all()))
        raise BergamotError(Errors.B020, name=name, choices=choices)
    return ENGINES.get(name)


def require_engine(name: str) -> None:
    """Raise unless an engine is known and its package can be imported.

    RAISES (BergamotError): B020 for an unknown engine, B022 or B042 without its package.
    """
    engine_class(name)
    if name in _PACKAGES:
        _PACKAGES[name]()
