"""How long a mention that was never seen takes on one core, stage by stage.

    python -m benchmarks.new_mention PIPELINE [--mentions 200] [--precision bf16]

Names of the pipeline's knowledge base with two letters exchanged are linked one by one, each a
document of its own (the dictionary looks for mentions in it first, and is told nothing). The last
line is JSON: processor, precision, and p50 and p90 in milliseconds of the processor's time of

    find     the components before the linker
    encode   tokenizer and language model
    grams    3-grams: the search, and the scores of what else was found
    dense    the search by vectors, and the vectors of what else was found
    rest     choosing concepts, rescoring, candidates, probabilities, writing them down
    link     the linker as a whole: all of these but the first
"""

import argparse
import json
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_bergamot.cli.gold import as_mention
from training.card.speed import misspelt, one_core, processor

WARM_UP = 30
STAGES = {
    "encode": ["encoder.encode"],
    "grams": ["index.lexical.search", "index.lexical.cosines"],
    "dense": ["index.engine.search", "index.engine.vectors"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("--mentions", type=int, default=200)
    parser.add_argument("--precision", help="instead of the pipeline's own: fp32, bf16")
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.pipeline)
    name = next(name for name in nlp.pipe_names if hasattr(nlp.get_pipe(name), "generator"))
    if arguments.precision:
        config: Any = {"components": {name: {"precision": arguments.precision}}}
        nlp = spacy.load(arguments.pipeline, config=config)
    linker: Any = nlp.get_pipe(name)
    finders = [pipe for before, pipe in nlp.pipeline[: nlp.pipe_names.index(name)]]
    names = misspelt(linker.parts.index)
    rows = []
    with one_core():
        stages = Stages(linker.generator)
        for mention, _ in islice(names, arguments.mentions + WARM_UP):
            finding = stages.time(lambda doc: find(finders, doc), nlp.make_doc(mention))
            linking = stages.time(linker, as_mention(nlp, mention, linker.settings.spans_key))
            row = {"find": finding["whole"], **dict.fromkeys(STAGES, 0.0), **linking}
            row["link"] = row.pop("whole")
            row["rest"] = row["link"] - sum(row[stage] for stage in STAGES)
            rows.append(row)
    result: dict[str, Any] = {"processor": processor(), "precision": linker.parts.encoder.precision}
    result["mentions"] = len(rows[WARM_UP:])
    for stage in ("find", *STAGES, "rest", "link"):
        times = [row[stage] for row in rows[WARM_UP:]]
        p50, p90 = (round(float(share), 2) for share in np.percentile(times, [50, 90]))
        result[stage] = {"p50_ms": p50, "p90_ms": p90}
        print(f"{stage:8} {p50:7.2f} {p90:7.2f}")
    print(json.dumps(result))


def find(finders: list[Any], doc: Doc) -> None:
    for finder in finders:
        doc = finder(doc)


class Stages:
    """Adds up the time that a candidate generator's parts take."""

    def __init__(self, generator: Any) -> None:
        self.taken: dict[str, float] = {}
        for stage, paths in STAGES.items():
            for path in paths:
                *parents, method = path.split(".")
                owner = generator
                for parent in parents:
                    owner = getattr(owner, parent)
                setattr(owner, method, self._timed(stage, getattr(owner, method)))

    def _timed(self, stage: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return method(*arguments, **named)
            finally:
                passed = 1000 * (time.process_time() - start)
                self.taken[stage] = self.taken.get(stage, 0.0) + passed

        return timed

    def time(self, pipe: Callable[[Doc], Any], doc: Doc) -> dict[str, float]:
        """Return the milliseconds that a document takes, by stage and as a whole."""
        self.taken.clear()
        start = time.process_time()
        pipe(doc)
        return {"whole": 1000 * (time.process_time() - start), **self.taken}


if __name__ == "__main__":
    main()
