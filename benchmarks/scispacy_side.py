"""scispaCy's candidate generator on the same names and mentions, run by its own Python.

    PYTHON benchmarks/scispacy_side.py KB.jsonl QUERIES.txt FOLDER [DOCUMENTS.jsonl]

FOLDER keeps the index. scispaCy refuses to build one on Python 3.11, because it cannot save half
precision there; nothing of that is needed here, so that check is answered for it. The last line is
JSON: build_cpu_s, cpu_ms and wall_ms a mention, acc_1, recall (any of the candidates); of documents
document_cpu_ms a mention through its pipe, and document_acc_1.
"""

import json
import sys
import time
from pathlib import Path

import joblib
import nmslib
import scispacy.candidate_generation as scispacy
import spacy
from scispacy.linking import EntityLinker
from scispacy.linking_utils import KnowledgeBase

K, EF_SEARCH = 30, 200


def main() -> None:
    kb = KnowledgeBase(sys.argv[1])
    lines = Path(sys.argv[2]).read_text(encoding="utf8").split("\n")
    queries = [line.split("||") for line in lines if "||" in line]
    folder = Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    saved = folder / "parts.joblib"
    if not saved.exists():
        scispacy.scipy_supports_sparse_float16 = lambda: True
        start = time.process_time()
        aliases, vectorizer, index = scispacy.create_tfidf_ann_index(None, kb)
        spent = time.process_time() - start
        index.saveIndex(str(folder / "index.nmslib"), save_data=True)
        joblib.dump((aliases, vectorizer, spent), saved)
    aliases, vectorizer, spent = joblib.load(saved)
    index = nmslib.init(
        method="hnsw", space="cosinesimil_sparse", data_type=nmslib.DataType.SPARSE_VECTOR
    )
    index.loadIndex(str(folder / "index.nmslib"), load_data=True)
    index.setQueryTimeParams({"efSearch": EF_SEARCH})
    generate = scispacy.CandidateGenerator(index, vectorizer, aliases, kb, ef_search=EF_SEARCH)
    mentions = [mention for _, mention in queries]
    generate(mentions[:50], K)
    cpu, wall = time.process_time(), time.perf_counter()
    found = [
        candidates
        for start in range(0, len(mentions), 100)
        for candidates in generate(mentions[start : start + 100], K)
    ]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    first = anywhere = 0
    for (gold, _), candidates in zip(queries, found, strict=True):
        scores = {c.concept_id: max(c.similarities) for c in candidates}
        ranked = sorted(scores, key=lambda concept: -scores[concept])
        first += bool(ranked) and ranked[0] in gold.split("|")
        anywhere += bool(set(gold.split("|")) & set(ranked))
    count = len(queries)
    report = {
        "build_cpu_s": round(spent, 1),
        "cpu_ms": 1000 * cpu / count,
        "wall_ms": 1000 * wall / count,
        "acc_1": first / count,
        "recall": anywhere / count,
    }
    if len(sys.argv) > 4:
        report |= documents(generate, Path(sys.argv[4]))
    print(json.dumps(report))


def documents(generate: scispacy.CandidateGenerator, path: Path) -> dict:
    """Link documents with their own mentions by scispaCy's pipe, whatever the score."""
    nlp = spacy.blank("en")
    linker = EntityLinker(
        nlp, candidate_generator=generate, threshold=0.0, filter_for_definitions=False,
        resolve_abbreviations=False, max_entities_per_mention=5,
    )  # fmt: skip
    docs, golds = [], []
    for line in path.read_text(encoding="utf8").splitlines():
        entry = json.loads(line)
        doc = nlp.make_doc(entry["text"])
        spans, known = [], {}
        for start, end, gold in entry["mentions"]:
            span = doc.char_span(start, end, label="DISO", alignment_mode="expand")
            if span is not None:
                spans.append(span)
                known[span.start, span.end] = gold
        doc.ents = spacy.util.filter_spans(spans)
        docs.append(doc)
        golds.append([known[ent.start, ent.end] for ent in doc.ents])
    cpu = time.process_time()
    linked = [linker(doc) for doc in docs]
    cpu = time.process_time() - cpu
    right, count = [], 0
    for doc, of in zip(linked, golds, strict=True):
        for ent, gold in zip(doc.ents, of, strict=True):
            count += 1
            if gold:
                right.append(bool(ent._.kb_ents) and ent._.kb_ents[0][0] in gold)
    return {"document_cpu_ms": 1000 * cpu / count, "document_acc_1": sum(right) / len(right)}


if __name__ == "__main__":
    main()
