"""What abbreviations, prior and coherence gain on the gold documents of a corpus.

    python -m benchmarks.context PIPELINE TUNE.spacy TEST.spacy

PIPELINE has a bergamot_linker; the documents come from `python -m training corpus`. Weights are
chosen on TUNE by Acc@1; the table shows TEST. A mention counts if one of its concepts is in the
index; any of them is right. The last line is JSON: Acc@1 and Acc@5 of every system on TEST.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import spacy

from benchmarks.documents import read_gold

PRIOR, COHERENCE = "spacy_bergamot.PriorReranker.v1", "spacy_bergamot.CoherenceReranker.v1"
PLAIN = {"resolve_abbreviations": False}
SYSTEMS: dict[str, list[dict[str, Any]]] = {
    "none": [PLAIN],
    "abbreviations": [{"resolve_abbreviations": True}],
    "prior": [
        {**PLAIN, "rerank": {"@misc": PRIOR, "weight": weight}}
        for weight in (0.005, 0.01, 0.02, 0.05, 0.1)
    ],
    "coherence": [
        {**PLAIN, "rerank": {"@misc": COHERENCE, "weight": weight}}
        for weight in (0.02, 0.05, 0.1, 0.2, 0.4)
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("tune", type=Path)
    parser.add_argument("test", type=Path)
    arguments = parser.parse_args()
    folder, tune, test = arguments.pipeline, arguments.tune, arguments.test
    print(f"{'':15}{'setting':>12}{'tune @1':>9}{'test @1':>9}{'test @5':>9}")
    results, best_of = {}, {}
    for name, settings in SYSTEMS.items():
        scored = [
            (measure(arguments.pipeline, setting, arguments.tune)[0], setting)
            for setting in settings
        ]
        best, setting = max(scored, key=lambda pair: pair[0])
        best_of[name] = setting
        results[name] = show(
            name, setting, best, measure(arguments.pipeline, setting, arguments.test)
        )
    reranker = max(("prior", "coherence"), key=lambda name: results[name]["acc_1"])
    both = {**best_of[reranker], **best_of["abbreviations"]}
    first = measure(folder, both, tune)[0]
    found = measure(folder, both, test)
    results[f"abbreviations+{reranker}"] = show("both", both, first, found)
    print(json.dumps(results))


def show(
    name: str, setting: dict[str, Any], tuned: float, found: tuple[float, float]
) -> dict[str, float]:
    weight = setting.get("rerank", {}).get("weight", "")
    print(f"{name:15}{weight:>12}{tuned:>9.2f}{found[0]:>9.2f}{found[1]:>9.2f}", flush=True)
    return {"acc_1": round(found[0], 2), "acc_5": round(found[1], 2)}


def measure(folder: Path, setting: dict[str, Any], documents: Path) -> tuple[float, float]:
    """Return Acc@1 and Acc@5 in percent."""
    nlp = spacy.load(folder, config={"components": {"bergamot_linker": setting}})
    linker: Any = nlp.get_pipe("bergamot_linker")
    pairs = read_gold(documents, nlp.vocab)
    hits, count = {1: 0, 5: 0}, 0
    linked = linker.pipe(doc for doc, _ in pairs)
    for doc, (_, golds) in zip(linked, pairs, strict=True):
        for ent, gold in zip(doc.ents, golds, strict=True):
            if any(concept in linker.parts.index.table for concept in gold):
                count += 1
                found = [entry["concept_id"] for entry in ent._.candidates]
                for k in hits:
                    hits[k] += bool(set(found[:k]) & gold)
    return 100 * hits[1] / count, 100 * hits[5] / count


if __name__ == "__main__":
    main()
