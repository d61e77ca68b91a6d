"""Candidates a second and how good they are, against scispaCy's generator on the same names.

    python -m benchmarks.link LM DICTIONARY QUERIES.txt --scispacy /path/to/its/python \
        [--names 60000] [--folder DIR]

DICTIONARY and QUERIES have `CUI||name` lines. The knowledge base is the queries' concepts and
others up to so many names; scispaCy (0.6.2, in an environment of its own) gets the same. Both sides
answer the same mentions, 100 at once, with 30 aliases (scispaCy) or 10 concepts (ours). One thread,
CPU time. The last line is JSON: lexical_ratio and mixed_ratio (scispaCy's CPU time a mention by
ours: 3-grams alone; exact, 3-grams and language model), lexical_recall, mixed_recall and
scispacy_recall (gold among the candidates), the same as _acc_1, p50_ms and p95_ms of one mention
through the mix.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.accuracy import SYSTEMS
from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.candidates import CandidateGenerator
from spacy_bergamot.filters import CandidateFilter
from spacy_bergamot.generators import EnsembleGenerator
from spacy_bergamot.text_encoder import TextEncoder, fingerprint
from training.ontology.cli import import_ontologies
from training.preprocess.filters import Filters
from training.preprocess.tables import build_concept_table

BATCH = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lm", type=Path)
    parser.add_argument("dictionary", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--scispacy", type=Path, help="Python with scispacy; without, ours alone")
    parser.add_argument("--names", type=int, default=60_000)
    parser.add_argument("--folder", type=Path, help="keep what is built")
    arguments = parser.parse_args()
    lines = arguments.queries.read_text(encoding="utf8").split("\n")
    queries = [(set(c.split("|")), m) for c, _, m in (x.partition("||") for x in lines) if m]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kb = write_kb(arguments.dictionary, queries, arguments.names, folder)
        encoder = TextEncoder.open(arguments.lm, precision="bf16")
        index = open_index(folder, kb, encoder, fingerprint(arguments.lm))
        report = {
            name: measure(encoder, index, SYSTEMS[name], queries)
            for name in ("lexical", "dense", "ensemble")
        }
        report["ensemble"] |= latency(encoder, index, queries)
        if arguments.scispacy:
            report["scispacy"] = scispacy(arguments.scispacy, kb, arguments.queries, folder)
    for name, row in report.items():
        print(f"{name:10}" + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    lexical, mixed, other = report["lexical"], report["ensemble"], report.get("scispacy", {})
    figures = {
        "lexical_recall": lexical["recall"],
        "lexical_acc_1": lexical["acc_1"],
        "mixed_recall": mixed["recall"],
        "mixed_acc_1": mixed["acc_1"],
        "p50_ms": mixed["p50_ms"],
        "p95_ms": mixed["p95_ms"],
    }
    if other:
        figures |= {
            "lexical_ratio": other["cpu_ms"] / lexical["cpu_ms"],
            "mixed_ratio": other["cpu_ms"] / mixed["cpu_ms"],
            "scispacy_recall": other["recall"],
            "scispacy_acc_1": other["acc_1"],
        }
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


def write_kb(dictionary: Path, queries: list, names: int, folder: Path) -> Path:
    """Write the queries' concepts, and others at random, as scispaCy's JSONL."""
    path = folder / "kb.jsonl"
    if path.exists():
        return path
    gold = set().union(*(concepts for concepts, _ in queries))
    known: dict[str, list[str]] = {}
    for line in dictionary.read_text(encoding="utf8").split("\n"):
        concepts, _, name = line.partition("||")
        for concept in concepts.split("|") if name else []:
            known.setdefault(concept, []).append(name)
    order = sorted(known)
    random.Random(0).shuffle(order)
    order.sort(key=lambda concept: concept not in gold)
    written = 0
    with path.open("w", encoding="utf8") as stream:
        for concept in order:
            if written >= names:
                break
            first, *others = known[concept]
            entry = {"concept_id": concept, "canonical_name": first, "aliases": others}
            stream.write(json.dumps({**entry, "types": [], "definition": ""}) + "\n")
            written += 1 + len(others)
    return path


def open_index(folder: Path, kb: Path, encoder: TextEncoder, mark: str) -> AliasIndex:
    path = folder / "index"
    if not path.exists():
        import_ontologies([kb], folder / "META")
        build_concept_table(folder / "META", folder / "table", filters=Filters())
        AliasIndex.build(path, folder / "table", encoder, lm_fingerprint=mark, progress=True)
    return AliasIndex.open(path)


def measure(
    encoder: TextEncoder, index: AliasIndex, system: EnsembleGenerator, queries: list
) -> dict[str, float]:
    generator = CandidateGenerator(encoder, index, CandidateFilter(), k=10, generator=system)
    mentions = [(mention, "") for _, mention in queries]
    generator.generate(mentions[:50])
    cpu, wall = time.process_time(), time.perf_counter()
    found = [
        candidates
        for start in range(0, len(mentions), BATCH)
        for candidates in generator.generate(mentions[start : start + BATCH])
    ]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    pairs = [(candidates, gold) for candidates, (gold, _) in zip(found, queries, strict=True)]
    first = sum(bool(candidates) and candidates[0].concept_id in gold for candidates, gold in pairs)
    anywhere = sum(bool({c.concept_id for c in candidates} & gold) for candidates, gold in pairs)
    count = len(queries)
    return {
        "cpu_ms": 1000 * cpu / count,
        "wall_ms": 1000 * wall / count,
        "acc_1": first / count,
        "recall": anywhere / count,
    }


def latency(encoder: TextEncoder, index: AliasIndex, queries: list) -> dict[str, float]:
    """Return the time of one mention alone, in milliseconds."""
    system = SYSTEMS["ensemble"]
    generator = CandidateGenerator(encoder, index, CandidateFilter(), k=10, generator=system)
    times = []
    for _, mention in queries[:500]:
        start = time.perf_counter()
        generator.generate([(mention, "")])
        times.append(1000 * (time.perf_counter() - start))
    return {"p50_ms": float(np.median(times)), "p95_ms": float(np.quantile(times, 0.95))}


def scispacy(python: Path, kb: Path, queries: Path, folder: Path) -> dict[str, float]:
    script = Path(__file__).with_name("scispacy_side.py")
    command = [str(python), str(script), str(kb), str(queries), str(folder / "scispacy")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"scispaCy's side failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
