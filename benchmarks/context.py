"""What abbreviations, prior and coherence gain on the gold documents of a corpus.

    python -m benchmarks.context PIPELINE CODES.tsv TUNE.txt TEST.txt

PIPELINE has a bergamot_linker; CODES.tsv has `VOCABULARY:code<tab>concept` lines; the corpora are
in PubTator form with MeSH or OMIM codes (the NCBI disease corpus). Weights are chosen on TUNE by
Acc@1; the table shows TEST. A mention counts if one of its codes has a concept in the index; any of
its concepts is right. The last line is JSON: Acc@1 and Acc@5 of every system on TEST.
"""

import argparse
import gzip
import json
import re
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

Golds = dict[tuple[int, int], set[str]]
PRIOR, COHERENCE = "spacy_bergamot.PriorReranker.v1", "spacy_bergamot.CoherenceReranker.v1"
SYSTEMS: dict[str, list[dict[str, Any]]] = {
    "none": [{}],
    "abbreviations": [{"resolve_abbreviations": True}],
    "prior": [
        {"rerank": {"@misc": PRIOR, "weight": weight}} for weight in (0.005, 0.01, 0.02, 0.05, 0.1)
    ],
    "coherence": [
        {"rerank": {"@misc": COHERENCE, "weight": weight}} for weight in (0.02, 0.05, 0.1, 0.2, 0.4)
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("codes", type=Path)
    parser.add_argument("tune", type=Path)
    parser.add_argument("test", type=Path)
    arguments = parser.parse_args()
    codes: dict[str, set[str]] = {}
    for line in arguments.codes.read_text(encoding="utf8").splitlines():
        code, _, concept = line.partition("\t")
        codes.setdefault(code, set()).add(concept)
    tune, test = (read(path, codes) for path in (arguments.tune, arguments.test))
    print(f"{'':15}{'setting':>12}{'tune @1':>9}{'test @1':>9}{'test @5':>9}")
    results, best_of = {}, {}
    for name, settings in SYSTEMS.items():
        scored = [(measure(arguments.pipeline, setting, tune)[0], setting) for setting in settings]
        best, setting = max(scored, key=lambda pair: pair[0])
        best_of[name] = setting
        results[name] = show(name, setting, best, measure(arguments.pipeline, setting, test))
    reranker = max(("prior", "coherence"), key=lambda name: results[name]["acc_1"])
    both = {**best_of["abbreviations"], **best_of[reranker]}
    first = measure(arguments.pipeline, both, tune)[0]
    found = measure(arguments.pipeline, both, test)
    results[f"abbreviations+{reranker}"] = show("both", both, first, found)
    print(json.dumps(results))


def show(
    name: str, setting: dict[str, Any], tuned: float, found: tuple[float, float]
) -> dict[str, float]:
    weight = setting.get("rerank", {}).get("weight", "")
    print(f"{name:15}{weight:>12}{tuned:>9.2f}{found[0]:>9.2f}{found[1]:>9.2f}", flush=True)
    return {"acc_1": round(found[0], 2), "acc_5": round(found[1], 2)}


def read(path: Path, codes: dict[str, set[str]]) -> list[tuple[str, Golds]]:
    """Return text and gold mentions of every document."""
    opened = gzip.open if path.suffix == ".gz" else open
    texts: dict[str, str] = {}
    golds: dict[str, Golds] = {}
    with opened(path, "rt", encoding="utf8") as lines:
        for line in lines:
            parts = line.rstrip("\n").split("|", 2)
            if len(parts) == 3 and parts[1] in ("t", "a"):
                texts[parts[0]] = f"{texts[parts[0]]} {parts[2]}" if parts[1] == "a" else parts[2]
                continue
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 6:
                concepts: set[str] = set()
                for code in re.split(r"[|+]", fields[5]):
                    name = code if ":" in code else f"MESH:{code.strip()}"
                    concepts |= codes.get(name.strip(), set())
                place = (int(fields[1]), int(fields[2]))
                golds.setdefault(fields[0], {})[place] = concepts
    return [(text, golds.get(name, {})) for name, text in texts.items()]


def marked(nlp: Language, text: str, golds: Golds) -> tuple[Doc, list[set[str]]]:
    """Return a document with the gold mentions as entities, and the concepts of each."""
    doc, spans, known = nlp.make_doc(text), [], {}
    for (start, end), concepts in golds.items():
        span = doc.char_span(start, end, label="DISO", alignment_mode="expand")
        if span is not None:
            spans.append(span)
            known[span.start, span.end] = concepts
    doc.ents = filter_spans(spans)
    return doc, [known[ent.start, ent.end] for ent in doc.ents]


def measure(
    folder: Path, setting: dict[str, Any], documents: list[tuple[str, Golds]]
) -> tuple[float, float]:
    """Return Acc@1 and Acc@5 in percent."""
    nlp = spacy.load(folder, config={"components": {"bergamot_linker": setting}})
    linker: Any = nlp.get_pipe("bergamot_linker")
    pairs = [marked(nlp, text, golds) for text, golds in documents]
    hits, count = {1: 0, 5: 0}, 0
    linked = linker.pipe(doc for doc, _ in pairs)
    for doc, (_, of) in zip(linked, pairs, strict=True):
        for ent, gold in zip(doc.ents, of, strict=True):
            if any(concept in linker.parts.index.table for concept in gold):
                count += 1
                found = [entry["concept_id"] for entry in ent._.candidates]
                for k in hits:
                    hits[k] += bool(set(found[:k]) & gold)
    return 100 * hits[1] / count, 100 * hits[5] / count


if __name__ == "__main__":
    main()
