"""Accuracy of the candidate generators on query files, one by one and together.

    python -m benchmarks.accuracy KB LM QUERIES [--base LM] [--held-out DIR] [--index DIR]
        [--groups DISO ANAT] [--limit N]

KB is a concept table (corpus/kb), LM a language model folder, QUERIES a folder of `CUI||mention`
files, one per set; a mention counts if the table has one of its concepts, and any of them is right.
`--base` is the language model before training. `--held-out` is a folder with dictionary.txt and
queries/ (corpus/eval): names that are not in its dictionary are taken from the table, and its
queries are sets as well. `--groups` repeats the run with a filter on semantic groups.

Acc@k counts concepts; intervals are 95 % by the bootstrap over mentions, of the macro mean within
the sets. The last column compares `pipeline`, the mix of configs/linker.cfg, with the better
of `lexical` (3-grams) and `dense` (LM) of the set on the same mentions. The last line is JSON: for
`lexical`, `base_dense`, `dense`, `pipeline` and the others, of which some have the suffix
"_filtered", the macro acc@1 and acc@5, and both of every set under `by_set`.
"""

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.held_out import without_names
from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import (
    DenseGenerator,
    EnsembleGenerator,
    ExactGenerator,
    Generator,
    LexicalGenerator,
)
from spacy_bergamot.text import normalize
from training.corpora.queries import gold_mentions, read_queries
from training.evaluate.statistics import bootstrap_interval
from training.evaluate.systems import packaged

PARTS: dict[str, Generator] = {
    "exact": ExactGenerator(),
    "lexical": LexicalGenerator(),
    "dense": DenseGenerator(),
}
SYSTEMS: dict[str, EnsembleGenerator] = {
    "lexical": EnsembleGenerator({"lexical": LexicalGenerator(smallest=0.0)}),
    "dense": EnsembleGenerator({"dense": DenseGenerator()}),
    "exact": EnsembleGenerator({"exact": ExactGenerator()}),
    "mean": EnsembleGenerator(PARTS, combine="mean"),
    "max": EnsembleGenerator(PARTS, combine="max"),
}
SAMPLES = 2000
K = 10
Sets = dict[str, list[tuple[str, set[str]]]]


@dataclass
class Measured:
    """Ranks of the gold concepts of every set's mentions (99 where there is none), CPU time."""

    ranks: dict[str, np.ndarray]
    cpu_ms: float

    def accuracy(self, name: str, k: int) -> float:
        return 100 * float((self.ranks[name] < k).mean())

    def macro(self, k: int) -> float:
        return float(np.mean([self.accuracy(name, k) for name in self.ranks]))

    def macro_interval(self, k: int) -> tuple[float, float]:
        """Resample the mentions within every set."""
        rng, means = np.random.default_rng(0), []
        for ranks in self.ranks.values():
            means.append(rng.binomial(len(ranks), (ranks < k).mean(), SAMPLES) / len(ranks))
        low, high = np.percentile(100 * np.mean(means, axis=0), [2.5, 97.5])
        return float(low), float(high)

    def to_dict(self) -> dict:
        by_set = {
            name: {f"acc@{k}": round(self.accuracy(name, k), 2) for k in (1, 5)}
            for name in self.ranks
        }
        return {f"acc@{k}": round(self.macro(k), 2) for k in (1, 5)} | {"by_set": by_set}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("lm", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--base", type=Path, help="the language model before training")
    parser.add_argument("--held-out", type=Path, help="folder with dictionary.txt and queries/")
    parser.add_argument("--index", type=Path, help="keep the indexes here for another run")
    parser.add_argument("--groups", nargs="*", default=[], help="semantic groups of the filter")
    parser.add_argument("--limit", type=int, default=10**9, help="queries of a set")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.index or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kb, sources = arguments.kb, {"": arguments.queries}
        if arguments.held_out:
            kb = without_names(kb, arguments.held_out / "dictionary.txt", folder / "kb")
            sources["held-out "] = arguments.held_out / "queries"
        encoder, index = opened(kb, arguments.lm, folder)
        sets = read_sets(sources, index, arguments.limit)
        report = {}
        for suffix, groups in (("", ()), ("_filtered", tuple(arguments.groups))):
            if suffix and not groups:
                continue
            allowed = CandidateFilter(semantic_groups=groups)
            for name, system in {**SYSTEMS, "pipeline": packaged()}.items():
                generator = CandidateGenerator(encoder, index, allowed, generator=system)
                report[name + suffix] = measure(generator, sets)
        if arguments.base:
            encoder, index = opened(kb, arguments.base, folder)
            generator = CandidateGenerator(
                encoder, index, CandidateFilter(), generator=SYSTEMS["dense"]
            )
            report["base_dense"] = measure(generator, sets)
    show(report)


def opened(kb: Path, lm: Path, folder: Path) -> tuple[TextEncoder, AliasIndex]:
    """Open the index of a language model, built if it is not in the folder."""
    encoder, mark = TextEncoder.open(lm, precision="bf16"), fingerprint(lm)
    path = folder / mark[:12]
    if not path.exists():
        AliasIndex.build(path, kb, encoder, lm_fingerprint=mark, progress=True)
    return encoder, AliasIndex.open(path)


def read_sets(sources: dict[str, Path], index: AliasIndex, limit: int) -> Sets:
    """Read at most `limit` queries of every set, of those that can be answered."""
    sets: Sets = {}
    for prefix, path in sources.items():
        for query in gold_mentions(read_queries(path)):
            if any(concept in index.table for concept in query.concepts):
                known = sets.setdefault(prefix + query.group, [])
                known.append((query.mention, set(query.concepts)))
    return {name: queries[:limit] for name, queries in sets.items()}


def measure(generator: CandidateGenerator, sets: Sets) -> Measured:
    ranks, spent = {}, 0.0
    for name, queries in sets.items():
        start = time.process_time()
        found = generator.generate([(normalize(mention), "") for mention, _ in queries], k=K)
        spent += time.process_time() - start
        ranks[name] = np.array(
            [
                next((n for n, c in enumerate(candidates) if c.concept_id in gold), 99)
                for candidates, (_, gold) in zip(found, queries, strict=True)
            ]
        )
    return Measured(ranks, 1000 * spent / sum(map(len, sets.values())))


def against_best(report: dict[str, Measured], name: str, k: int) -> str:
    """Return what the pipeline has beyond the better single generator of a set, paired."""
    best = max((report["lexical"], report["dense"]), key=lambda one: one.accuracy(name, k))
    hits = [(one.ranks[name] < k).astype(float) for one in (report["pipeline"], best)]
    difference = 100 * (hits[0] - hits[1])
    low, high = bootstrap_interval(difference, samples=SAMPLES)
    return f"{difference.mean():+5.1f} ({low:+.1f} to {high:+.1f})"


def show(report: dict[str, Measured]) -> None:
    order = ["lexical", "base_dense", "dense", "pipeline"]
    names = [name for name in order if name in report]
    names += [name for name in report if name not in names]
    sets = report["dense"].ranks
    for k in (1, 5):
        last = "pipeline - best"
        print(f"Acc@{k:<20}{'n':>6}" + "".join(f"{name:>20}" for name in names) + f"{last:>24}")
        for name, ranks in sets.items():
            cells = ""
            for system in names:
                low, high = bootstrap_interval(
                    100.0 * (report[system].ranks[name] < k), samples=SAMPLES
                )
                value = report[system].accuracy(name, k)
                cells += f"{value:8.1f} ({low:4.1f}-{high:4.1f})"
            print(f"{name:25}{len(ranks):>6}{cells}{against_best(report, name, k):>24}")
        cells = ""
        for system in names:
            low, high = report[system].macro_interval(k)
            cells += f"{report[system].macro(k):8.1f} ({low:4.1f}-{high:4.1f})"
        print(f"{'macro':25}{sum(map(len, sets.values())):>6}{cells}\n")
    cpu = "".join(f"{report[name].cpu_ms:>20.2f}" for name in names)
    print(f"{'CPU ms per mention':31}{cpu}")
    print(json.dumps({name: report[name].to_dict() for name in names}))


if __name__ == "__main__":
    main()
