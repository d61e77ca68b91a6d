"""Accuracy of the candidate generators on query files, one by one and together.

    python -m benchmarks.accuracy KB LM QUERIES [--index DIR] [--groups DISO ANAT] [--limit N]

KB is a concept table (corpus/kb), LM a language model folder, QUERIES a folder of `CUI||mention`
files, one a set. Acc@k counts concepts; a mention's gold concept must be in the table. `--groups`
repeats the run with a filter on semantic groups. The last line is JSON: macro Acc@1 and @5 under
exact, lexical, dense, ensemble, and the same with "_filtered".
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.candidates import CandidateGenerator
from spacy_bergamot.filters import CandidateFilter
from spacy_bergamot.generators import (
    DenseGenerator,
    EnsembleGenerator,
    ExactGenerator,
    Generator,
    LexicalGenerator,
)
from spacy_bergamot.text_encoder import TextEncoder, fingerprint
from training.evaluate.readers import read_queries

PARTS: dict[str, Generator] = {
    "exact": ExactGenerator(),
    "lexical": LexicalGenerator(),
    "dense": DenseGenerator(),
}
SYSTEMS = {name: EnsembleGenerator({name: part}) for name, part in PARTS.items()}
SYSTEMS["ensemble"] = EnsembleGenerator(PARTS, combine="mean")
SYSTEMS["ensemble, max"] = EnsembleGenerator(PARTS, combine="max")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("lm", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--index", type=Path, help="keep the index here for another run")
    parser.add_argument("--groups", nargs="*", default=[], help="semantic groups of the filter")
    parser.add_argument("--limit", type=int, default=10**9, help="queries of a set")
    arguments = parser.parse_args()
    encoder = TextEncoder.open(arguments.lm, precision="bf16")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.index or Path(temporary) / "index"
        if not folder.exists():
            mark = fingerprint(arguments.lm)
            AliasIndex.build(folder, arguments.kb, encoder, lm_fingerprint=mark, progress=True)
        index = AliasIndex.open(folder)
        sets: dict[str, list[tuple[str, set[str]]]] = {}
        for query in read_queries(arguments.queries).queries:
            if any(concept in index.table for concept in query.concept_ids):
                sets.setdefault(query.group, []).append((query.mention, set(query.concept_ids)))
        report = {}
        for suffix, groups in (("", ()), ("_filtered", tuple(arguments.groups))):
            if suffix and not groups:
                continue
            for name, system in SYSTEMS.items():
                allowed = CandidateFilter(semantic_groups=groups)
                generator = CandidateGenerator(encoder, index, allowed, k=10, generator=system)
                report[name + suffix] = measure(generator, sets, arguments.limit)
    show(report, sets)


def measure(
    generator: CandidateGenerator, sets: dict[str, list[tuple[str, set[str]]]], limit: int
) -> dict[str, dict[str, float]]:
    """Return {set: {acc@1, acc@5}} in percent, their macro mean, and milliseconds a mention."""
    table, spent, count = {}, 0.0, 0
    for name, queries in sets.items():
        queries = queries[:limit]
        start = time.process_time()
        found = generator.generate([(mention, "") for mention, _ in queries])
        spent, count = spent + time.process_time() - start, count + len(queries)
        ranks = [
            next((n for n, c in enumerate(candidates) if c.concept_id in gold), 99)
            for candidates, (_, gold) in zip(found, queries, strict=True)
        ]
        table[name] = {
            f"acc@{k}": 100 * sum(rank < k for rank in ranks) / len(ranks) for k in (1, 5)
        }
    table["macro"] = {
        key: sum(row[key] for row in table.values()) / len(table) for key in ("acc@1", "acc@5")
    }
    table["macro"]["cpu_ms"] = 1000 * spent / count
    return table


def show(report: dict, sets: dict) -> None:
    print(f"{'Acc@1 / @5':16}{'n':>6}" + "".join(f"{name:>20}" for name in report))
    for name in [*sets, "macro"]:
        cells = "".join(
            f"{table[name]['acc@1']:>13.1f} / {table[name]['acc@5']:4.1f}"
            for table in report.values()
        )
        print(f"{name:16}{len(sets.get(name, [])):>6}{cells}")
    cpu = "".join(f"{table['macro']['cpu_ms']:>20.2f}" for table in report.values())
    print(f"{'CPU ms a mention':22}{cpu}")
    macro = {name: {k: round(v, 2) for k, v in t["macro"].items()} for name, t in report.items()}
    print(json.dumps(macro))


if __name__ == "__main__":
    main()
