"""LlmReranker: a language model on a server reads the text and chooses among the candidates.

What it costs is time: every mention with several candidates, none of them certain, is a request of
some hundred tokens. A mention without an answer keeps its candidates as they are.
"""

import inspect
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.errors import BergamotError, Errors, Warnings
from spacy_bergamot.linking.llm.answer import Answer
from spacy_bergamot.linking.llm.asking import Asking, gives_logits
from spacy_bergamot.linking.llm.cache import KnownAnswers
from spacy_bergamot.linking.llm.client import Client, NoAnswerError
from spacy_bergamot.linking.llm.prompt import PROMPT, Prompts, Question
from spacy_bergamot.linking.llm.ranking import ranked
from spacy_bergamot.linking.llm.settings import LlmSettings
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import Ordered


class LlmReranker:
    """Lets a language model on a server choose; see `LlmSettings`.

    counts (Counter): Questions "asked", "remembered" and without answer ("failed"), since it was
        made in this process.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self.settings = settings
        self.counts: Counter[str] = Counter()
        self._client = Client(settings)
        self._known = KnownAnswers(settings.cache_size, settings.cache_path)
        self._logits: bool | None = None
        self._warned = False

    def __repr__(self) -> str:
        return f"LlmReranker(prompt={PROMPT}, {self.settings!r})"

    def __reduce__(self) -> tuple:
        return type(self), (self.settings,)

    def __call__(
        self, mentions: Sequence[Mention], candidates: Ordered, kb: KnowledgeBase
    ) -> Ordered:
        """Return the candidates of the mentions of one document, best first."""
        return self.rerank_documents([mentions], [candidates], kb)[0]

    def rerank_documents(
        self,
        mentions: Sequence[Sequence[Mention]],
        candidates: Sequence[Ordered],
        kb: KnowledgeBase,
    ) -> list[Ordered]:
        """Return the candidates of the mentions of several documents, best first.

        mentions, candidates: Of every document. kb (KnowledgeBase): Where candidates are described.
        RAISES (BergamotError): B182, B183, B185 for what only its settings can mend; B184 without
            an answer if `on_error` is "raise".
        """
        prompts = Prompts(self.settings, kb)
        flat = [
            (found, prompts.questions(mention, found) if _is_open(found) else [])
            for of, found_of in zip(mentions, candidates, strict=True)
            for mention, found in zip(of, found_of, strict=True)
        ]
        answers = self._answers(question for _, questions in flat for question in questions)
        changed = (
            ranked(found, [(one, answers[one.key]) for one in questions if one.key in answers])
            for found, questions in flat
        )
        return [list(islice(changed, len(of))) for of in mentions]

    def _answers(self, questions: Iterable[Question]) -> dict[str, Answer]:
        """Return the answers that are known or given, by the keys of their questions."""
        distinct = {question.key: question for question in questions}
        answers = self._known.known(distinct)
        fresh = {key: one for key, one in distinct.items() if key not in answers}
        self.counts.update(asked=len(fresh), remembered=len(answers))
        if not fresh:
            return answers
        given = self._given(fresh)
        made = {key: one for key, one in given.items() if isinstance(one, Answer)}
        self._known.keep(made)
        failures = [one.reason for one in given.values() if isinstance(one, NoAnswerError)]
        if failures:
            self._report(failures, asked=len(fresh))
        return answers | made

    def _given(self, fresh: Mapping[str, Question]) -> dict[str, Answer | NoAnswerError]:
        """Return what the server answers; whichever thread asks, and in whatever order."""
        if self.settings.mode == "pairwise" and self._logits is None:
            try:
                self._logits = gives_logits(self._client, self.settings)
            except NoAnswerError as failure:
                return dict.fromkeys(fresh, failure)
        asking = Asking(self._client, self.settings, logits=bool(self._logits))
        with ThreadPoolExecutor(self.settings.concurrency) as threads:
            return dict(zip(fresh, threads.map(asking, fresh.values()), strict=True))

    def _report(self, failures: Sequence[str], *, asked: int) -> None:
        """Count failures; raise, or warn of the first ones. None of it says what was asked."""
        self.counts["failed"] += len(failures)
        reasons = ", ".join(f"{reason} ({n})" for reason, n in Counter(failures).most_common())
        values = {"failed": len(failures), "asked": asked, "reasons": reasons}
        if self.settings.on_error == "raise":
            raise BergamotError(Errors.B184, host=self._client.host, **values)
        if not self._warned:
            self._warned = True
            text = Warnings.W180.format(host=self._client.host, **values)
            warnings.warn(text, stacklevel=2)


def make_llm(**settings: Any) -> LlmReranker:
    """Configure `LlmReranker`; see `LlmSettings`."""
    return LlmReranker(LlmSettings(**settings))


# So that spaCy checks the names and types of a config.
make_llm.__signature__ = inspect.signature(LlmSettings)  # type: ignore[attr-defined]


def _is_open(found: Sequence[Candidate]) -> bool:
    """Tell whether there is a choice: several candidates, and not one alone that is the name."""
    return len(found) > 1 and not found[0].score >= 1 > found[1].score
