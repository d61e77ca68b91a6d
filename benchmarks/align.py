"""How well `training align` finds the pairs of two vocabularies that a third one says are the same.

    python -m benchmarks.align LEFT RIGHT --hub LEFT.sssom.tsv --hub RIGHT.sssom.tsv --lm LM
    python -m benchmarks.align ... --sample 1000 --ontoea

LEFT and RIGHT are concept tables. The hub's mappings to both (Mondo's to NCIt and to the Disease
Ontology, say) are joined; pairs whose concepts have one partner each are the gold. A fifth of them
are seeds, a tenth choose the threshold of a score alone, the rest are the test. Precision counts a
pair as wrong where its left concept is none of the hub's, hits and MRR rank all right concepts.

With --ontoea either side has the sampled pairs' concepts, a third as many others, and all above
them, for OntoEA learns from hierarchies: from the seeds, and its confidence from the tenth.
"""

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.kb.concept_table import PARENT_RELATIONS, SCHEMAS, ConceptTable
from training.align.confidence import Confidence, by_rule, learned, tuned
from training.align.measure import KEYS, measured
from training.align.ontoea.graphs import Graphs
from training.align.ontoea.measure import figures as figures_of
from training.align.ontoea.measure import ranks
from training.align.ontoea.names import start_of
from training.align.ontoea.similarity import NAME, Task, learn, pairs_of, similarity
from training.align.pairs import Pairs, find_pairs
from training.align.sides import Side, rows_of_ids, searchable

THRESHOLDS = np.round(np.arange(0.3, 1.0001, 0.02), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left", type=Path)
    parser.add_argument("right", type=Path)
    parser.add_argument("--hub", type=Path, action="append", required=True)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--sample", type=int, help="Left concepts of the gold; as many others / 3")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ontoea", type=Path, help="Folder of OntoEA's checkpoint")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        left = ConceptTable.open(options.left)
        right = ConceptTable.open(options.right)
        gold = gold_of(options.hub, left, right)
        if options.sample:
            drawn = rng.choice(len(gold), min(options.sample, len(gold)), replace=False)
            gold = np.concatenate([gold[drawn], np.delete(gold, drawn, axis=0)])
            count, above = len(drawn), bool(options.ontoea)
            left, gold[:, 0] = sampled(left, gold[:, 0], count, rng, scratch / "a", above=above)
            if above:
                table, rows = sampled(right, gold[:, 1], count, rng, scratch / "b", above=above)
                right, gold[:, 1] = table, rows
            gold = gold[(gold >= 0).all(1)]
        side = searchable(
            Side(right), scratch, lm=options.lm, precision=options.precision,
            vectors=options.vectors,
        )  # fmt: skip
        start = time.perf_counter()
        pairs = find_pairs(left, side, k=20, progress=True)
        seconds = time.perf_counter() - start
        order = rng.permutation(len(gold))
        parts = np.split(gold[order], [len(gold) // 5, len(gold) * 3 // 10])
        learned_more = of_ontoea(left, side, pairs, parts, options.ontoea) if options.ontoea else {}
    print(
        f"{len(left):,} concepts and {len(side.table):,}; gold {len(gold):,}: {len(parts[0])} "
        f"seeds, {len(parts[1])} for thresholds, {len(parts[2])} test; {len(pairs.left):,} pairs, "
        f"{pairs.conflicting:,} of other groups dropped; {seconds:.0f} s"
    )
    systems = {
        "exact": Confidence(pairs.feature("exact") * (1 + pairs.feature("preferred")) / 2, 0.5),
        "lexical": with_threshold(pairs, pairs.feature("lexical"), parts),
        "dense": with_threshold(pairs, pairs.feature("dense"), parts),
        "both": with_threshold(pairs, np.clip(pairs.feature("score"), 0, 1), parts),
        "by rule": by_rule(pairs),
        "learned": learned(pairs, parts[0]),
    }
    systems = {name: (pairs, confidence) for name, confidence in systems.items()} | learned_more
    figures = {}
    print(f"{'':10}{'threshold':>10}" + "".join(f"{n:>8}" for n in KEYS))
    for name, (of, confidence) in systems.items():
        figures[name] = measured(of, confidence, parts[2], left_out=rows_of(*parts[:2]))
        values = "".join(f"{figures[name][key]:8.3f}" for key in KEYS)
        print(f"{name:10}{confidence.threshold:10.2f}{values}")
    print(json.dumps({"left": len(left), "right": len(side.table), "gold": len(gold), **figures}))


def rows_of(*parts: np.ndarray) -> np.ndarray:
    """Return the left rows of some parts of the gold."""
    return np.concatenate(parts)[:, 0]


def gold_of(hubs: list[Path], left: ConceptTable, right: ConceptTable) -> np.ndarray:
    """Return pairs of left and right rows that a hub says are the same, int64 (n, 2)."""
    rows = [{}, {}]  # by side: the hub's concept to rows
    for path in hubs:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf8") as stream:
            lines = [line.rstrip("\n").split("\t") for line in stream if line[0] != "#"]
        at = {name: place for place, name in enumerate(lines[0])}
        pairs = [(line[at["subject_id"]], line[at["object_id"]]) for line in lines[1:]]
        for side, table in enumerate((left, right)):
            found = rows_of_ids(table, sorted({target for _, target in pairs}))
            for hub, target in pairs:
                if target in found and any(p in target for p in prefixes(table)):
                    rows[side].setdefault(hub, set()).add(found[target])
    both = {
        (one, other)
        for hub in rows[0].keys() & rows[1].keys()
        for one in rows[0][hub]
        for other in rows[1][hub]
    }
    counts = [np.bincount([pair[side] for pair in both]) for side in (0, 1)]
    kept = [p for p in sorted(both) if counts[0][p[0]] == 1 and counts[1][p[1]] == 1]
    return np.array(kept, dtype=np.int64)


def prefixes(table: ConceptTable) -> set[str]:
    """Return the prefix of most codes of a table's own names, as Orphanet: and ORPHA: of ORPHA."""
    sources = pc.value_counts(table.column("aliases", "source")).to_pylist()
    most = max(sources, key=lambda entry: entry["counts"])["values"]
    return {f"{most}:", *(["Orphanet:"] if most == "ORPHA" else [])}


def sampled(
    table: ConceptTable,
    golds: np.ndarray,
    count: int,
    rng: np.random.Generator,
    path: Path,
    *,
    above: bool,
) -> tuple[ConceptTable, np.ndarray]:
    """Return a table of the first golds and a third as many others, and every gold's row in it.

    above (bool): With all that is above them, and the relations among these.
    """
    others = np.setdiff1d(np.arange(len(table)), golds)
    more = rng.choice(others, min(count // 3, len(others)), replace=False)
    rows = np.sort(np.concatenate([golds[:count], more]))
    if above:
        rows = np.unique([*rows, *ancestors(table, rows.tolist())])
    place = np.full(len(table), -1)
    place[rows] = np.arange(len(rows))
    tables = {"concepts": table.concepts.take(pa.array(rows))}
    for name in SCHEMAS.keys() - {"concepts"}:
        of = getattr(table, name)
        keys = {0: table.keys(name)}
        if name == "relations":
            keys[of.schema.get_field_index("tail")] = table.column(name, "tail").to_numpy()
        kept = np.logical_and.reduce([place[key] >= 0 for key in keys.values()])
        kept &= above or name != "relations"
        of = of.filter(pa.array(kept))
        for column, key in keys.items():
            new = pa.array(place[key[kept]], pa.int32())
            of = of.set_column(column, SCHEMAS[name].field(column), new)
        tables[name] = of.combine_chunks()
    ConceptTable.write(path, tables)
    return ConceptTable.open(path), place[golds]


def ancestors(table: ConceptTable, rows: list[int]) -> set[int]:
    """Return all rows above some."""
    found: set[int] = set()
    while rows:
        parents = {row for one in rows for _, _, row in table.related(one, rels=PARENT_RELATIONS)}
        rows = sorted(parents - found)
        found |= parents
    return found


def of_ontoea(
    left: ConceptTable, side: Side, pairs: Pairs, parts: list[np.ndarray], folder: Path
) -> dict[str, tuple[Pairs, Confidence]]:
    """Return OntoEA alone and beside names, fitted on the tenth that it has not learned from."""
    task = Task(Graphs.of(left, side.table), *parts[:2])
    start = start_of(left, side)
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    trained = learn(task, left, side, folder)
    for name, *vectors in (
        ("Mean vectors of names", start[: len(left)], start[len(left) :]),
        ("OntoEA", trained.left, trained.right),
    ):
        for way, csls in (("cosine", False), ("CSLS", True)):
            found = figures_of(ranks(*vectors, parts[2], csls=csls))
            print(f"{name}, {way}: {json.dumps(found)}")
    print("Validations:", json.dumps(trained.history))
    near = pairs_of(trained, left, side.table, k=20)
    both = pairs.with_feature(NAME, similarity(trained, pairs))
    return {
        "learned 10%": (pairs, learned(pairs, task.valid)),
        "learned 30%": (pairs, learned(pairs, np.concatenate(parts[:2]))),
        "ontoea": (near, tuned(near, learned(near, task.valid), task.valid)),
        "with ontoea": (both, learned(both, task.valid)),
    }


def with_threshold(pairs: Pairs, values: np.ndarray, parts: list[np.ndarray]) -> Confidence:
    """Return a score with the threshold of the best F1 on the second part."""
    made = [Confidence(values, float(threshold)) for threshold in THRESHOLDS]
    return max(
        made,
        key=lambda one: measured(pairs, one, parts[1], left_out=rows_of(parts[0], parts[2]))["f1"],
    )


if __name__ == "__main__":
    main()
