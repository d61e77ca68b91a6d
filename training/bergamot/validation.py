"""Validation on concepts that no training pair comes from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.text_encoder import EncoderSettings, TextEncoder, open_tokenizer
from spacy_bergamot.linking.generators import DenseGenerator
from training.corpora.dictionary import Dictionary
from training.corpora.queries import gold_mentions, read_queries
from training.errors import BergamotError, Errors
from training.evaluate.indexes import indexed, over
from training.evaluate.metrics import evaluate
from training.registry import registry

METRIC = "recall@1"


@registry.validations("recall.v1")
@dataclass(frozen=True)
class ValidationSettings:
    """When to validate, on what, and when to give up.

    path (str): Folder with dictionary.txt and queries/, as `preprocess --valid-concepts` writes.
    every (int): Steps between validations.
    patience (int): Validations without a better recall@1 before the run stops; 0 never stops it.
    """

    path: str
    every: int = 500
    patience: int = 0


class Validation:
    """Measure recall@1 and @5 of a language model on held-out concepts, macro over languages."""

    def __init__(self, settings: ValidationSettings, lm: Path, encoder: EncoderSettings) -> None:
        self.settings = settings
        self.encoder = encoder
        self.tokenizer = open_tokenizer(lm, encoder.max_length)
        folder = Path(settings.path)
        self.dictionary = Dictionary.read(folder / "dictionary.txt")
        self.queries = gold_mentions(read_queries(folder / "queries"))
        if not self.queries:
            raise BergamotError(Errors.T111, path=folder)

    def __call__(self, lm: Any, device: str) -> dict[str, float]:
        """Return {"recall@1", "recall@5"} in percent; the model's mode is left as it was."""
        training = lm.training
        lm.eval()
        encoder = TextEncoder(lm, self.tokenizer, self.encoder, device=device)
        with indexed(self.dictionary, encoder) as index:
            table = evaluate(over(index, encoder, DenseGenerator()), self.queries)
        lm.train(training)
        return {METRIC: table["macro"]["acc@1"], "recall@5": table["macro"]["acc@5"]}


def best(history: list[dict[str, float]]) -> tuple[float, int]:
    """Return the best recall@1 so far, and how many validations came after it."""
    values = [entry[METRIC] for entry in history if METRIC in entry]
    if not values:
        return float("-inf"), 0
    top = max(values)
    return top, len(values) - 1 - values.index(top)
