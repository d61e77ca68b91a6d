"""Batches of mentions, and their forward passes by length."""

import random
from collections.abc import Iterator, Sequence

from torch import Tensor

from spacy_bergamot.linking.cross_encoder.model import PairModel
from spacy_bergamot.linking.cross_encoder.texts import Line, Reader
from training.cross_encoder.examples import Example


class Batches:
    """The mentions of every step; they follow from seed and step.

    examples (Sequence[Example]), reader (Reader): What is read, and as what.
    size (int): Mentions of a step.
    """

    def __init__(
        self, examples: Sequence[Example], reader: Reader, *, size: int, seed: int
    ) -> None:
        self.examples, self.reader = examples, reader
        self.size, self.seed = size, seed
        self.per_epoch = -(-len(examples) // size)

    def at(self, step: int) -> list[Example]:
        """Return the mentions of a step, counted from 0."""
        epoch, number = divmod(step, self.per_epoch)
        order = list(range(len(self.examples)))
        random.Random(f"{self.seed} {epoch}").shuffle(order)
        return [self.examples[row] for row in order[number * self.size : (number + 1) * self.size]]

    def passes(
        self, examples: Sequence[Example], tokens: int
    ) -> Iterator[tuple[list[Example], list[list[Line]]]]:
        """Yield mentions whose lines have at most so many tokens together, or one mention."""
        taken: list[Example] = []
        lines: list[list[Line]] = []
        count = 0
        for one in examples:
            of = self.reader.lines(one.mention, one.read)
            more = sum(len(line.ids) for line in of)
            if taken and count + more > tokens:
                yield taken, lines
                taken, lines, count = [], [], 0
            taken.append(one)
            lines.append(of)
            count += more
        if taken:
            yield taken, lines


def logits_of(model: PairModel, lines: Sequence[Sequence[Line]]) -> list[Tensor]:
    """Return the logits of the lines of some mentions, computed in order of length."""
    flat = [line for of in lines for line in of]
    order = sorted(range(len(flat)), key=lambda at: len(flat[at].ids))
    back = sorted(range(len(flat)), key=order.__getitem__)
    found = model([flat[at] for at in order])[back]
    return list(found.split([len(of) for of in lines]))
