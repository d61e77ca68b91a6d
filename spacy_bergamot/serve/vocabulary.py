"""What a knowledge base has that a request may name: languages, groups, types, sources."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.semantic_types import GROUP_NAMES, semantic_types
from spacy_bergamot.languages import LANGUAGES, NAMES, NO_LANGUAGE, iso, lat
from spacy_bergamot.serve.refusals import Wrong

_SHOWN = 40


class Vocabulary:
    """Counts of a knowledge base by language, group, type and source. Read once."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.languages = kb.aliases_by_language()
        self.groups, self.types, self.sources = (
            _counts(kb, *column)
            for column in (("types", "group"), ("types", "type"), ("aliases", "source"))
        )

    @cached_property
    def type_names(self) -> dict[str, str]:
        """Names of the semantic types."""
        return {one.tui: one.name for one in semantic_types()}

    def type_name(self, tui: str) -> str:
        """Return the name of a semantic type, or its TUI where it has none.

        tui (str): Of the type.
        """
        return self.type_names.get(tui, tui)

    @cached_property
    def code_sources(self) -> list[str]:
        """Vocabularies that concepts have codes in, the most frequent first."""
        return list(_counts(self.kb, "codes", "source"))

    def info(self) -> dict[str, list[dict[str, Any]]]:
        """Return codes, names and counts, the most frequent first."""
        languages = [
            {"code": code, "iso": iso(code), "name": NAMES.get(lat(code), code), "names": count}
            for code, count in self.languages.items()
        ]
        return {
            "languages": sorted(languages, key=lambda one: one["name"]),
            "semantic_groups": _counted(self.groups, GROUP_NAMES),
            "semantic_types": _counted(self.types, self.type_names),
            "sources": _counted(self.sources, {}),
        }

    def named(self, concept_id: str) -> dict[str, Any]:
        """Return name and semantic types of a concept; the id as name where it has none left.

        concept_id (str): Of the concept.
        """
        name, types = self.kb.name_and_types(concept_id) or (concept_id, [])
        return {"name": name, "types": types}

    def wrong_language(self, code: str | None, field: str) -> list[Wrong]:
        """Return what is wrong with a text's language: any that is known will do.

        code (str | None): As the request has it. field (str): Its name in the request.
        """
        known = {*map(lat, self.languages), *LANGUAGES.values()} - {*NO_LANGUAGE}
        if code is None or lat(code) in known:
            return []
        return [Wrong(field, f"unknown language; known are {_shown(map(iso, self.languages))}")]

    def wrong_source(self, source: str, field: str) -> list[Wrong]:
        """Return what is wrong with a vocabulary that codes are asked of.

        source (str): As the request has it. field (str): Its name in the request.
        """
        if source in self.code_sources:
            return []
        known = ", ".join(self.code_sources[:_SHOWN]) or "none"
        return [Wrong(field, f"no concept has a code in it; known are {known}")]

    def wrong_filters(self, filters: Mapping[str, Iterable[str]]) -> list[Wrong]:
        """Return the values of filters that the knowledge base does not have."""
        known: dict[str, Any] = {
            "languages": {lat(code) for code in self.languages},
            "sources": self.sources,
            "semantic_groups": self.groups,
            "semantic_types": self.types,
            "descendants_of": self.kb,
        }
        wrong = []
        for name, values in filters.items():
            for number, value in enumerate(values):
                if value not in known[name]:
                    has = "" if name == "descendants_of" else f"; it has {_shown(known[name])}"
                    what = f"the knowledge base does not have it{has}"
                    wrong.append(Wrong(f"{name}.{number}", what))
        return wrong


def _shown(known: Iterable[str]) -> str:
    return ", ".join(sorted(filter(None, known))[:_SHOWN])


def _counts(kb: KnowledgeBase, name: str, column: str) -> dict[str, int]:
    """Return how many rows of a table have each value of a column."""
    counts: Counter[str] = Counter()
    for table in kb.tables:
        values = table.column(name, column)
        codes = values.indices.to_numpy(zero_copy_only=False)
        for code, count in enumerate(np.bincount(codes).tolist()):
            counts[values.dictionary[code].as_py()] += count
    return {value: count for value, count in counts.most_common() if count and value}


def _counted(counts: Mapping[str, int], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"id": key, "name": names.get(key, key), "count": n} for key, n in counts.items()]
