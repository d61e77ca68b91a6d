"""Mentions a second and how good the links are, against scispaCy on the same names and documents.

    python -m benchmarks.link LM DICTIONARY QUERIES.txt --scispacy /path/to/its/python \
        [--documents CORPUS.spacy] [--processes 1 2 4] [--names 60000] [--folder DIR]

DICTIONARY and QUERIES have `CUI||name` lines. The knowledge base is the queries' concepts and
others up to so many names; scispaCy (0.6.2, in an environment of its own) gets the same. Both sides
answer the same mentions, 100 at once, with 30 aliases (scispaCy) or 10 concepts (ours). CORPUS
(from `python -m training corpus`, such as the NCBI disease corpus) is linked by both pipes,
document by document, with its own mentions. One thread, CPU time.

The last line is JSON. Of single mentions: lexical_ratio and mention_ratio (scispaCy's CPU time by
ours: 3-grams alone; exact, 3-grams and language model), lexical_recall, mixed_recall and
scispacy_recall (gold among the candidates), the same as _acc_1, p50_ms and p95_ms of one mention
through the mix. Of documents: mixed_ratio (scispaCy's pipe by ours), document_acc_1 and
scispacy_document_acc_1. Of processes: documents_per_s and mib (proportional set size) for each.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language

from benchmarks.accuracy import PARTS
from benchmarks.documents import read_gold
from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import EnsembleGenerator
from spacy_bergamot.pipeline.factory import MIXED_GENERATOR
from spacy_bergamot.pipeline.loaders import language_model
from spacy_bergamot.text import normalize
from training.evaluate.systems import packaged

BATCH = 100
K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lm", type=Path)
    parser.add_argument("dictionary", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--scispacy", type=Path, help="Python with scispacy; without, ours alone")
    parser.add_argument("--documents", type=Path, help="gold documents")
    parser.add_argument("--processes", type=int, nargs="*", default=[], help="such as 1 2 4")
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
        systems = {name: EnsembleGenerator({name: PARTS[name]}) for name in ("lexical", "dense")}
        report = {
            name: measure(encoder, index, system, queries)
            for name, system in {**systems, "ensemble": packaged()}.items()
        }
        report["ensemble"] |= latency(encoder, index, queries)
        documents = folder / "documents.jsonl"
        if arguments.documents:
            nlp = pipeline(folder, arguments.lm)
            write_documents(arguments.documents, nlp, documents)
            report["ensemble"] |= measure_documents(nlp, arguments.documents)
        if arguments.scispacy:
            report["scispacy"] = scispacy(
                arguments.scispacy, kb, arguments.queries, folder, documents
            )
        scaling = {}
        if arguments.documents and arguments.processes:
            scaling = {
                n: scale(folder / "pipeline", arguments.documents, n) for n in arguments.processes
            }
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
            "mention_ratio": other["cpu_ms"] / mixed["cpu_ms"],
            "scispacy_recall": other["recall"],
            "scispacy_acc_1": other["acc_1"],
        }
    if "document_cpu_ms" in mixed:
        figures["document_acc_1"] = mixed["document_acc_1"]
        if other:
            figures["mixed_ratio"] = other["document_cpu_ms"] / mixed["document_cpu_ms"]
            figures["scispacy_document_acc_1"] = other["document_acc_1"]
    for n, row in scaling.items():
        print(f"{n} processes: " + ", ".join(f"{key} {value:.1f}" for key, value in row.items()))
    rounded = {key: round(value, 4) for key, value in figures.items()}
    print(json.dumps({**rounded, **({"processes": scaling} if scaling else {})}))


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
    generator = CandidateGenerator(encoder, index, CandidateFilter(), generator=system)
    mentions = [(normalize(mention), "") for _, mention in queries]
    generator.generate(mentions[:50], k=K)
    cpu, wall = time.process_time(), time.perf_counter()
    found = [
        candidates
        for start in range(0, len(mentions), BATCH)
        for candidates in generator.generate(mentions[start : start + BATCH], k=K)
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
    generator = CandidateGenerator(encoder, index, CandidateFilter(), generator=packaged())
    times = []
    for _, mention in queries[:500]:
        start = time.perf_counter()
        generator.generate([(normalize(mention), "")], k=K)
        times.append(1000 * (time.perf_counter() - start))
    return {"p50_ms": float(np.median(times)), "p95_ms": float(np.quantile(times, 0.95))}


def write_documents(corpus: Path, nlp: Language, path: Path) -> None:
    """Write texts, mentions and golds for scispaCy's side, whose spaCy is another one."""
    with path.open("w", encoding="utf8") as stream:
        for doc, golds in read_gold(corpus, nlp.vocab):
            marked = [
                (ent.start_char, ent.end_char, sorted(known_of(gold, nlp)))
                for ent, gold in zip(doc.ents, golds, strict=True)
            ]
            stream.write(json.dumps({"text": doc.text, "mentions": marked}) + "\n")


def known_of(gold: set[str], nlp: Language) -> set[str]:
    """Return the gold concepts that the index has; a mention without any is not scored."""
    linker: Any = nlp.get_pipe("bergamot_linker")
    return {concept for concept in gold if concept in linker.kb}


def pipeline(folder: Path, lm: Path) -> Language:
    """Return a pipeline of the mix alone; it is saved for the processes."""
    nlp = spacy.blank("en")
    # scispaCy's side has none either.
    config = {"generator": MIXED_GENERATOR, "precision": "bf16", "resolve_abbreviations": False}
    linker: Any = nlp.add_pipe("bergamot_linker", config=config)

    def copied(target: Path, _: Path) -> None:
        shutil.copytree(folder / "index", target)

    linker.initialize(lambda: [], nlp=nlp, encoder=language_model(str(lm)), index=copied)
    nlp.to_disk(folder / "pipeline")
    return spacy.load(folder / "pipeline")


def measure_documents(nlp: Language, path: Path) -> dict[str, float]:
    pairs = read_gold(path, nlp.vocab)
    cpu = time.process_time()
    linked = list(nlp.pipe(doc for doc, _ in pairs))
    cpu = time.process_time() - cpu
    firsts = [
        (ent._.kb_ents[0][0] if ent._.kb_ents else "", known_of(gold, nlp))
        for doc, (_, golds) in zip(linked, pairs, strict=True)
        for ent, gold in zip(doc.ents, golds, strict=True)
    ]
    right = [first in gold for first, gold in firsts if gold]
    count = len(firsts)
    return {"document_cpu_ms": 1000 * cpu / count, "document_acc_1": sum(right) / len(right)}


def scale(folder: Path, documents: Path, n_process: int) -> dict[str, float]:
    """Link the documents three times over with so many processes, in a process of its own."""
    script = (
        "import sys; from pathlib import Path; from benchmarks.link import run_processes; "
        "run_processes(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))"
    )
    command = [sys.executable, "-c", script, str(folder), str(documents), str(n_process)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_processes(folder: Path, documents: Path, n_process: int) -> None:
    # The cache is off: every document costs what a new one costs.
    nlp = spacy.load(folder, config={"components": {"bergamot_linker": {"cache_size": 0}}})
    docs = [doc for doc, _ in read_gold(documents, nlp.vocab)]
    most = [0.0]
    watch = threading.Thread(target=watch_memory, args=(most,), daemon=True)
    watch.start()
    start = time.perf_counter()
    count = sum(1 for _ in nlp.pipe(docs * 3, n_process=n_process, batch_size=32))
    seconds = time.perf_counter() - start
    print(json.dumps({"documents_per_s": round(count / seconds, 1), "mib": round(most[0])}))


def watch_memory(most: list[float]) -> None:
    """Keep the greatest proportional set size of this process and its children."""
    me = os.getpid()
    while True:
        children = Path(f"/proc/{me}/task/{me}/children").read_text().split()
        total = 0
        for process in [str(me), *children]:
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{process}/smaps_rollup").read_text()
                total += int(text.split("Pss:")[1].split()[0])
        most[0] = max(most[0], total / 1024)
        time.sleep(0.5)


def scispacy(
    python: Path, kb: Path, queries: Path, folder: Path, documents: Path
) -> dict[str, float]:
    script = Path(__file__).with_name("scispacy_side.py")
    command = [str(python), str(script), str(kb), str(queries), str(folder / "scispacy")]
    command += [str(documents)] if documents.exists() else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)  # ours are not its packages
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"scispaCy's side failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
