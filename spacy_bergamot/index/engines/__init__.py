"""Search engines over unit vectors: build into a folder, open, search by cosine.

An engine is a subclass of `Engine`; `ENGINES` finds it by name. It may also have
`grow(folder, vectors, sources)`, as `UsearchEngine` has. One that not everybody has the package
for, or of another distribution, is named in entry points `spacy_bergamot_engines`.
"""

from collections.abc import Mapping
from typing import Any

import catalogue

from spacy_bergamot.errors import check_choice
from spacy_bergamot.index.engines.common import Engine, Vectors
from spacy_bergamot.index.engines.exact import ExactEngine
from spacy_bergamot.index.engines.nmslib import NmslibEngine
from spacy_bergamot.index.engines.usearch import UsearchEngine

__all__ = [
    "ENGINES", "Engine", "ExactEngine", "NmslibEngine", "UsearchEngine", "Vectors", "engine_class",
    "require_engine",
]  # fmt: skip

ENGINES = catalogue.create("spacy_bergamot", "engines", entry_points=True)
ENGINES.register("nmslib", func=NmslibEngine)
ENGINES.register("usearch", func=UsearchEngine)
ENGINES.register("exact", func=ExactEngine)


def engine_class(name: str) -> Any:
    """Return an engine's class by name. RAISES (BergamotError): B014 if there is none."""
    check_choice("search engine", name, sorted(ENGINES.get_all()))
    return ENGINES.get(name)


def require_engine(name: str, settings: Mapping[str, Any] | None = None) -> None:
    """Raise unless an engine is known, has these settings, and its package can be imported.

    name (str): Of the engine.
    settings (Mapping | None): Of the engine's `build`.
    RAISES (BergamotError): B014 for an unknown engine or a setting that it has not, B022 or B109
        without its package, B037 for a setting that is too small.
    """
    engine_class(name).require(settings or {})
