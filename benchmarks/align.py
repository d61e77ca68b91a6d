"""How well `training align` finds the pairs of two vocabularies that a third one says are the same.

    python -m benchmarks.align LEFT RIGHT --hub LEFT.sssom.tsv --hub RIGHT.sssom.tsv --lm LM

LEFT and RIGHT are concept tables. The hub's mappings to both (Mondo's to NCIt and to the Disease
Ontology, say) are joined; pairs whose concepts have one partner each are the gold. A fifth of them
are seeds, a tenth choose the threshold of a score alone, the rest are the test. Precision counts a
pair as wrong where its left concept is none of the hub's, hits and MRR rank all right concepts.
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

from spacy_bergamot.kb.concept_table import SCHEMAS, ConceptTable
from training.align.confidence import Confidence, by_rule, learned, one_to_one
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
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        left = ConceptTable.open(options.left)
        right = ConceptTable.open(options.right)
        gold = gold_of(options.hub, left, right)
        if options.sample:
            left, gold = sampled(left, gold, options.sample, rng, scratch / "left")
        side = searchable(
            Side(right), scratch, lm=options.lm, precision=options.precision,
            vectors=options.vectors,
        )  # fmt: skip
        start = time.perf_counter()
        pairs = find_pairs(left, side, k=20, progress=True)
        seconds = time.perf_counter() - start
    order = rng.permutation(len(gold))
    parts = np.split(gold[order], [len(gold) // 5, len(gold) * 3 // 10])
    print(
        f"{len(left):,} concepts and {len(side.table):,}; gold {len(gold):,}: {len(parts[0])} "
        f"seeds, {len(parts[1])} for thresholds, {len(parts[2])} test; {len(pairs.left):,} pairs, "
        f"{pairs.conflicting:,} of other groups dropped; {seconds:.0f} s"
    )
    systems = {
        "exact": Confidence(pairs.feature("exact") * (1 + pairs.feature("preferred")) / 2, 0.5),
        "lexical": tuned(pairs, pairs.feature("lexical"), parts),
        "dense": tuned(pairs, pairs.feature("dense"), parts),
        "both": tuned(pairs, np.clip(pairs.feature("score"), 0, 1), parts),
        "by rule": by_rule(pairs),
        "learned": learned(pairs, parts[0]),
    }
    figures = {}
    print(f"{'':10}{'threshold':>10}" + "".join(f"{n:>8}" for n in _FIGURES))
    for name, confidence in systems.items():
        figures[name] = measured(pairs, confidence, parts[2], others=parts[:2])
        values = "".join(f"{figures[name][key]:8.3f}" for key in _FIGURES)
        print(f"{name:10}{confidence.threshold:10.2f}{values}")
    print(json.dumps({"left": len(left), "right": len(side.table), "gold": len(gold), **figures}))


_FIGURES = ("p", "r", "f1", "hits@1", "hits@10", "mrr")


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
    left: ConceptTable, gold: np.ndarray, count: int, rng: np.random.Generator, path: Path
) -> tuple[ConceptTable, np.ndarray]:
    """Return a table of some left concepts of the gold and a third as many others, and their gold.

    The right side stays whole.
    """
    known = rng.choice(len(gold), min(count, len(gold)), replace=False)
    others = np.setdiff1d(np.arange(len(left)), gold[:, 0])
    more = rng.choice(others, min(len(known) // 3, len(others)), replace=False)
    rows = np.sort(np.concatenate([gold[known, 0], more]))
    tables = {}
    for name in SCHEMAS:
        table = getattr(left, name)
        key = {"concepts": None, "relations": "head"}.get(name, "concept")
        if name == "relations":
            tables[name] = SCHEMAS[name].empty_table()
            continue
        at = np.arange(len(left)) if key is None else left.keys(name)
        kept = table.take(pa.array(np.flatnonzero(np.isin(at, rows))))
        if key is not None:
            new = pa.array(np.searchsorted(rows, at[np.isin(at, rows)]), pa.int32())
            kept = kept.set_column(0, SCHEMAS[name].field(0), new)
        tables[name] = kept.combine_chunks()
    ConceptTable.write(path, tables)
    pairs = np.column_stack([np.searchsorted(rows, gold[known, 0]), gold[known, 1]])
    return ConceptTable.open(path), pairs


def tuned(pairs: Pairs, values: np.ndarray, parts: list[np.ndarray]) -> Confidence:
    """Return a score with the threshold of the best F1 on the second part."""
    made = [Confidence(values, float(threshold)) for threshold in THRESHOLDS]
    return max(
        made,
        key=lambda one: measured(pairs, one, parts[1], others=[parts[0], parts[2]])["f1"],
    )


def measured(
    pairs: Pairs, confidence: Confidence, gold: np.ndarray, *, others: list[np.ndarray]
) -> dict[str, float]:
    """Return figures on a part of the gold; left concepts of the other parts are left out."""
    right_of = dict(gold.tolist())
    elsewhere = {one for part in others for one in part[:, 0].tolist()}
    taken = np.flatnonzero(one_to_one(pairs, confidence))
    counted = [row for row in taken if int(pairs.left[row]) not in elsewhere]
    hits = sum(right_of.get(int(pairs.left[row])) == int(pairs.right[row]) for row in counted)
    precision, recall = hits / max(1, len(counted)), hits / len(gold)
    ranks = []
    starts = np.searchsorted(pairs.left, gold[:, 0])
    ends = np.searchsorted(pairs.left, gold[:, 0], side="right")
    for (_, right), start, end in zip(gold, starts, ends, strict=True):
        order = np.lexsort((pairs.right[start:end], -confidence.values[start:end]))
        place = np.flatnonzero(pairs.right[start:end][order] == right)
        seen = len(place) and confidence.values[start:end][order][place[0]] > 0
        ranks.append(1 / (1 + place[0]) if seen else 0.0)
    mrr = np.array(ranks)
    return {
        "p": round(precision, 4),
        "r": round(recall, 4),
        "f1": round(2 * hits / max(1, len(counted) + len(gold)), 4),
        "hits@1": round(float((mrr == 1).mean()), 4),
        "hits@10": round(float((mrr >= 0.1).mean()), 4),
        "mrr": round(float(mrr.mean()), 4),
    }


if __name__ == "__main__":
    main()
