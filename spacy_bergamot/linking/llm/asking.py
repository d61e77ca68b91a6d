"""Asking: the questions of a batch, put to the server by several threads, one answer each."""

from threading import Lock

from spacy_bergamot.linking.llm.answer import Answer, are_logits, read_choice, read_ranks
from spacy_bergamot.linking.llm.client import Client, NoAnswerError
from spacy_bergamot.linking.llm.prompt import Question
from spacy_bergamot.linking.llm.settings import LlmSettings

_IN_A_ROW = 3
"""Questions in a row that a server leaves without answer, each after all its tries, before the
others of the batch are not asked: of one that hangs, every question would take minutes."""

_TEST_QUERY = "Text: The patient had a ⟦heart attack⟧ last year."
_TEST_DOCUMENTS = ["bicycle | Manufactured Object", "myocardial infarction | also: heart attack"]


class Asking:
    """Asks the questions of one batch; any thread may at any time.

    client (Client), settings (LlmSettings): Whom, and how.
    logits (bool): Whether the scores of a rerank endpoint are logits.
    """

    def __init__(self, client: Client, settings: LlmSettings, *, logits: bool) -> None:
        self._client = client
        self._logits = logits
        self._most = 1 if settings.on_error == "raise" else _IN_A_ROW
        self._in_a_row = 0
        self._lock = Lock()

    def __call__(self, question: Question) -> Answer | NoAnswerError:
        """Return an answer, or why there is none."""
        if self._in_a_row >= self._most:
            return NoAnswerError("not asked after failures in a row")
        try:
            answer = self._asked(question)
        except NoAnswerError as failure:
            if failure.again:
                with self._lock:
                    self._in_a_row += 1
            return failure
        self._in_a_row = 0
        return answer

    def _asked(self, question: Question) -> Answer:
        options = len(question.places)
        if question.endpoint == "rerank":
            reply = self._client.post(question.endpoint, question.body)
            answer = read_ranks(reply, options, logits=self._logits)
            if answer is None:
                raise NoAnswerError("scores that are not one of each candidate")
            return answer
        for body in (question.body, question.reminded):
            answer = read_choice(self._client.post(question.endpoint, body), options)
            if answer is not None:
                return answer
        raise NoAnswerError("an answer that is no letter of the question")


def gives_logits(client: Client, settings: LlmSettings) -> bool:
    """Tell whether a rerank endpoint gives logits, by a question whose answer is plain.

    client (Client): Asks. settings (LlmSettings): What to ask.
    RAISES (NoAnswerError): If it gives none, or the wrong one: some servers give some models'
        scores wrong, without an error.
    """
    body = {"model": settings.model, "query": _TEST_QUERY, "documents": _TEST_DOCUMENTS}
    logits = are_logits(client.post("rerank", body | dict(settings.extra or {})))
    if logits is None:
        raise NoAnswerError("a bicycle not below a heart attack, as a test")
    return logits
