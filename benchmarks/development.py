"""Language models on a small dictionary, to choose how to train: a minute a model on one core.

    python -m benchmarks.development EVAL QUERIES LM ... [--concepts N] [--mentions N] [--lexical]

EVAL is what `preprocess` writes (corpus/eval: dictionary.txt, and held-out names in queries/),
QUERIES a folder of `CUI||mention` files that were not trained on, one per set. The dictionary has
all names of the gold concepts and of 1,500 others, so figures are higher than on the whole one.
Search is exact. The last line is JSON: by model `queries` and `held_out`, the macro Acc@1 and @5
of both.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.generators import DenseGenerator
from training.corpora.dictionary import Dictionary, read_dictionary
from training.corpora.queries import gold_mentions, read_queries
from training.corpora.schema import GoldMention
from training.evaluate.indexes import NoLm, indexed, over
from training.evaluate.metrics import evaluate
from training.evaluate.systems import BASELINES

METRICS = ("acc@1", "acc@5")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("eval", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("lm", type=Path, nargs="*")
    parser.add_argument("--concepts", type=int, default=1500, help="beside the gold ones")
    parser.add_argument("--mentions", type=int, default=250, help="of a set; held out 100")
    parser.add_argument("--lexical", action="store_true", help="character 3-grams too")
    parser.add_argument("--precision", default="bf16", help="fp32, bf16, fp16")
    arguments = parser.parse_args()
    sets = {
        "queries": sample(gold_mentions(read_queries(arguments.queries)), arguments.mentions),
        "held_out": sample(gold_mentions(read_queries(arguments.eval / "queries")), 100),
    }
    entries = read_dictionary(arguments.eval / "dictionary.txt")
    dictionary = reduced(entries, sets, others=arguments.concepts)
    print(f"{len(dictionary)} names, {sum(map(len, sets.values()))} mentions")
    results = {}
    if arguments.lexical:
        nothing = NoLm()
        with indexed(dictionary, nothing) as index:
            generator = over(index, nothing, BASELINES["lexical"])
            results["lexical"] = measure("lexical", generator, sets)
    for lm in arguments.lm:
        encoder = TextEncoder.open(lm, precision=arguments.precision)
        with indexed(dictionary, encoder) as index:
            results[str(lm)] = measure(str(lm), over(index, encoder, DenseGenerator()), sets)
    print(json.dumps(results))


def sample(queries: list[GoldMention], most: int) -> list[GoldMention]:
    """Return at most so many queries of every set, the same on every run."""
    groups: dict[str, list[GoldMention]] = defaultdict(list)
    for query in queries:
        groups[query.group].append(query)
    draw = random.Random(0)
    return [q for group in groups.values() for q in draw.sample(group, min(most, len(group)))]


def reduced(
    entries: list[tuple[str, str]], sets: dict[str, list[GoldMention]], *, others: int
) -> Dictionary:
    """Return the names of the gold concepts, and of some others drawn at random."""
    known = {concept for ids, _ in entries for concept in ids.split("|")}
    gold = {concept for queries in sets.values() for q in queries for concept in q.concepts}
    rest = sorted(known - gold)
    kept = gold.union(random.Random(0).sample(rest, min(others, len(rest))))
    return Dictionary((ids, name) for ids, name in entries if kept.intersection(ids.split("|")))


def measure(
    label: str, generator: CandidateGenerator, sets: dict[str, list[GoldMention]]
) -> dict[str, dict[str, float]]:
    """Return the macro Acc@1 and @5 of both kinds of sets, in percent; print every set's Acc@1."""
    found = {}
    for kind, queries in sets.items():
        table = evaluate(generator, queries)
        found[kind] = {metric: round(table["macro"][metric], 2) for metric in METRICS}
        groups = [name for name in table if name not in ("macro", "micro")]
        each = ", ".join(f"{name} {table[name]['acc@1']:.0f}" for name in groups)
        print(f"{label}: {kind} {found[kind]['acc@1']:.1f} / {found[kind]['acc@5']:.1f} ({each})")
    return found


if __name__ == "__main__":
    main()
