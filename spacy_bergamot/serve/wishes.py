"""A pipeline with other settings for one request, over the same files in memory."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from spacy_bergamot.languages import lat
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.recent import Recent
from spacy_bergamot.mentions.component import BergamotMentions
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import linker_of
from spacy_bergamot.serve.options import Options

GIVEN = "given mentions"
"""Span group of the mentions that come with a document."""

_KEPT = 16
_CACHED = 1000
"""Mentions that a linker with a request's settings remembers."""

_FILTERS = {field.name for field in fields(CandidateFilter)}

Component = Callable[[Doc], Doc]


@dataclass(frozen=True)
class Wish:
    """What a request wants otherwise than the pipeline has it; what is empty or None stays.

    k (int | None): Candidates of a mention that are shown.
    given (bool): Link the mentions that come with a document, find none.
    """

    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    semantic_groups: tuple[str, ...] = ()
    semantic_types: tuple[str, ...] = ()
    descendants_of: tuple[str, ...] = ()
    k: int | None = None
    threshold: float | None = None
    min_probability: float | None = None
    given: bool = False

    @classmethod
    def of(cls, options: Options, *, given: bool = False) -> "Wish":
        """Return what the options of a request say; equal wishes share what is made for them.

        options (Options): Of the request. given (bool): With mentions that it names.
        """
        said: dict[str, Any] = {field.name: getattr(options, field.name) for field in _OPTIONS}
        for name, value in said.items():
            if isinstance(value, list):
                codes = map(lat, value) if name == "languages" else value
                said[name] = tuple(sorted(set(codes)))
        return cls(**said, given=given)

    def filters(self) -> dict[str, tuple[str, ...]]:
        """Return the filters that are given."""
        return {name: of for name, of in asdict(self).items() if name in _FILTERS and of}

    def numbers(self) -> dict[str, float]:
        """Return the numbers that are given."""
        names = ("k", "threshold", "min_probability")
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}


_OPTIONS = [field for field in fields(Wish) if field.name != "given"]


class Served(NamedTuple):
    """Components that fulfil a wish, in order, and the linker among them."""

    components: list[Component]
    linker: BergamotLinker


class Wishes:
    """Makes what fulfils wishes from a pipeline, and keeps what was used last."""

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        self.linker, _ = linker_of(nlp)
        self._kept: Recent[Wish, Served] = Recent(_KEPT)

    def __getitem__(self, wish: Wish) -> Served:
        if wish == Wish():
            return Served([component for _, component in self.nlp.pipeline], self.linker)
        found = self._kept.known([wish]).get(wish) or self._made(wish)
        self._kept.keep({wish: found})
        return found

    def _made(self, wish: Wish) -> Served:
        settings = self.linker.settings
        filters: dict[str, Any] = wish.filters()
        changed: dict[str, Any] = {"allowed": replace(settings.allowed, **filters)}
        changed |= {"cache_size": min(settings.cache_size, _CACHED), **wish.numbers()}
        if wish.k is not None:
            # Fewer are cut off at the end: how probable a link is depends on the other candidates.
            changed["k"] = max(wish.k, settings.k)
        if wish.given:
            changed |= {"spans_key": GIVEN, "labels_discard": (), "overwrite": True}
        linker = self.linker.with_settings(replace(settings, **changed))
        if wish.given:
            return Served([linker], linker)
        components = []
        for _, component in self.nlp.pipeline:
            if component is self.linker:
                component = linker
            elif isinstance(component, BergamotMentions):
                component = _marking(component, wish.semantic_groups)
            components.append(component)
        return Served(components, linker)


def _marking(component: BergamotMentions, groups: Iterable[str]) -> BergamotMentions:
    """Return the component, if it can, so that it marks mentions of some groups alone."""
    known = [group for group in groups if group in component.keys.groups]
    return component.with_groups(known) if known else component
