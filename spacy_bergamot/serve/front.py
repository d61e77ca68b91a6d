"""Between the requests and the model thread: who may ask, how much at once, and for how long."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from spacy.language import Language

from spacy_bergamot import __version__
from spacy_bergamot.languages import lat
from spacy_bergamot.pipeline.pipelines import linker_of
from spacy_bergamot.serve.limits import Limits
from spacy_bergamot.serve.metrics import Metrics
from spacy_bergamot.serve.model_thread import ModelThread
from spacy_bergamot.serve.options import Options
from spacy_bergamot.serve.refusals import Refused, Wrong
from spacy_bergamot.serve.service import Asked, Failed, Kind, Service, Verb, is_nil
from spacy_bergamot.serve.vocabulary import Vocabulary
from spacy_bergamot.serve.wishes import Wish

_AT_ONCE, _CHARACTERS = 16, 50_000
"""Documents, and characters, of one request that are before the model thread at once, so that a
large request delays others by little."""

logger = logging.getLogger("spacy_bergamot.serve")


class Front:
    """A pipeline that is served.

    nlp (Language): Used by the model thread alone from now on.
    ready (bool): Whether the first text was linked, after which none waits for what is read then.
    """

    def __init__(self, nlp: Language, limits: Limits) -> None:
        self.nlp = nlp
        self.limits = limits
        self.metrics = Metrics()
        self.linker, _ = linker_of(nlp)
        self.vocabulary = Vocabulary(self.linker.kb)
        self.ready = False
        self._service = Service(nlp, self.vocabulary)
        self._slots = asyncio.Semaphore(limits.waiting)
        self._usual = 1.0  # seconds of a batch
        facts = self.linker.parts.provenance
        self.metrics.pipeline.info({name: str(facts[name]) for name in ("lm", "index")})

    def start(self) -> None:
        """Start the model thread, and link a first text."""
        self._thread = ModelThread(self._run)
        self._thread.submit(None, [None], size=0)

    def close(self) -> None:
        """Let the model thread finish what it has."""
        self.ready = False
        self._thread.close()

    def info(self) -> dict[str, Any]:
        """Return what is served."""
        meta, settings = self.nlp.meta, self.linker.settings
        limits = {name: getattr(self.limits, name) for name in Limits.__dataclass_fields__}
        numbers = ("k", "threshold", "min_probability", "max_entities_per_mention")
        return {
            "pipeline": f"{self.nlp.lang}_{meta['name']} {meta['version']}",
            "version": __version__,
            "licence": meta.get("license") or "",
            "provenance": self.linker.parts.provenance,
            "calibrated": self.linker.parts.calibration is not None,
            "settings": {name: getattr(settings, name) for name in numbers},
            **self.vocabulary.info(),
            "limits": limits | {"characters": self.longest},
        }

    @property
    def longest(self) -> int:
        """Characters of the longest document."""
        return min(self.limits.characters, self.nlp.max_length)

    def wish(self, options: Options, *, given: bool = False) -> Wish:
        """Return what a request's options want.

        options (Options): Of the request. given (bool): With mentions that it names.
        RAISES (Refused): 422 for what cannot be.
        """
        wish = Wish.of(options, given=given)
        wrong = self.vocabulary.wrong_filters(
            {
                name: map(lat, values) if name == "languages" else values
                for name in wish.filters()
                for values in [getattr(options, name)]
            }
        )
        if wish.min_probability is not None and self.linker.parts.calibration is None:
            wrong.append(Wrong("min_probability", "the linker has no probabilities"))
        if wrong:
            raise Refused.of(*wrong)
        return wish

    def wrong_text(self, text: str, field: str) -> list[Wrong]:
        """Return why a text cannot be linked.

        text (str): Of a document. field (str): Its name in the request.
        """
        if len(text) > self.longest:
            return [Wrong(field, f"{len(text)} characters; {self.longest} are the most")]
        try:
            text.encode("utf8")
        except UnicodeEncodeError:
            return [Wrong(field, "no valid Unicode: it has half of a surrogate pair")]
        return []

    def admit(self) -> None:
        """Let one more request come to the model thread, which it does before anything is awaited.

        RAISES (Refused): 503 if as many as may wait are waiting.
        """
        if self._slots.locked():
            seconds = min(max(math.ceil(self._usual), 1), 60)
            message = "Too many requests wait already; try again later."
            raise Refused(503, message, retry_after=seconds)

    async def link(self, kind: Kind, items: Sequence[Asked]) -> AsyncIterator[list[Any]]:
        """Yield the answers, a dict or an exception each, of a few documents after another.

        Those that take too long are answered by a `Refused` 504.
        """
        for part in _parts(items):
            answers = await self._asked(kind, part)
            self._count(answers)
            yield answers

    async def explain(self, wish: Wish, question: Any) -> dict[str, Any]:
        """Return how a mention is linked. RAISES (Refused): 504 if it takes too long."""
        (answer,) = await self._asked(Kind(Verb.EXPLAIN, wish), [question])
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _asked(self, kind: Kind, items: Sequence[Any]) -> list[Any]:
        async with self._slots:
            self.metrics.waiting.inc()
            started = time.perf_counter()
            try:
                size = sum(len(item[0]) for item in items)
                answer = asyncio.wrap_future(self._thread.submit(kind, items, size=size))
                return await asyncio.wait_for(answer, self.limits.seconds)
            except asyncio.TimeoutError:
                message = f"It took longer than {self.limits.seconds:g} seconds."
                return [Refused(504, message)] * len(items)
            finally:
                self.metrics.waiting.dec()
                self._usual += 0.1 * (time.perf_counter() - started - self._usual)

    def _run(self, kind: Kind | None, items: Sequence[Any]) -> list[Any]:
        if kind is not None:
            return self._service(kind, items)
        try:
            self._service.warm_up()
        except Failed as failed:
            logger.error("The pipeline does not link, so the service is not ready: %s", failed)
        else:
            self.ready = True
        return [None]

    def _count(self, answers: Sequence[Any]) -> None:
        for answer in answers:
            if isinstance(answer, Exception):
                self.metrics.errors.labels(getattr(answer, "kind", "late")).inc()
                logger.warning("A document was not linked: %s", answer)
                continue
            self.metrics.documents.inc()
            self.metrics.mentions.inc(len(answer["ents"]))
            self.metrics.nil.inc(sum(map(is_nil, answer["ents"])))


def _parts(items: Sequence[Asked]) -> list[list[Asked]]:
    """Cut documents into parts of some documents and characters."""
    parts: list[list[Asked]] = []
    room = 0
    for item in items:
        if not parts or len(parts[-1]) >= _AT_ONCE or room < len(item.text):
            parts.append([])
            room = _CHARACTERS
        parts[-1].append(item)
        room -= len(item.text)
    return parts
