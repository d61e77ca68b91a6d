"""What abbreviations, prior, coherence and learned rerankers gain on gold documents of a corpus.

    python -m benchmarks.context PIPELINE TUNE TEST [--cross-encoder FOLDER] [--keep FOLDER]

PIPELINE has a bergamot_linker; TUNE and TEST are corpora, .spacy files or others of `python -m
training corpus`. Weights of prior and coherence are chosen on TUNE by Acc@1, and the mix is trained
on it; the table shows TEST. All rerankers get the candidates of resolved abbreviations, as the
pipeline does, and are compared with these: the difference has a paired 95 % interval over
documents. A mention counts if one of its concepts is in the index; any of them is right. The
calibration error is over all mentions, of the mix's own scores, and of probabilities that
`calibrate` would fit to them on TUNE. Milliseconds are of reranking alone, on one thread, with
nothing remembered of concepts.

FOLDER is what `python -m training cross-encoder PIPELINE TUNE` made, with --dev as it is; its
probabilities are fitted to the documents that it did not learn from.

With --keep the candidates are kept, and a second run takes seconds. The last line is JSON.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.calibration import Calibration
from spacy_bergamot.linking.calibration_report import expected_calibration_error
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.cross_encoder.reranker import make_cross_encoder
from spacy_bergamot.linking.learned_mix import LearnedMix
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import CoherenceReranker, PriorReranker, Reranker
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline
from spacy_bergamot.text import normalize
from training.cross_encoder.recipe import Recipe
from training.evaluate.statistics import bootstrap_interval, compare
from training.rerank.ask import ask, read_documents
from training.rerank.candidates import Asked, Document
from training.rerank.run import is_held, train

Weigh = Callable[[list[Candidate], Mention], list[Candidate]]
PRIORS = (0.005, 0.01, 0.02, 0.05, 0.1)
COHERENCES = (0.02, 0.05, 0.1, 0.2, 0.4)


class Measured(NamedTuple):
    """Of the mentions that count: whether the best, or one of five, is right, and documents; of all
    that have candidates: how probable the best one is, and whether it is right."""

    first: np.ndarray
    fifth: np.ndarray
    documents: np.ndarray
    sure: np.ndarray
    right: np.ndarray
    milliseconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline")
    parser.add_argument("tune", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--cross-encoder", type=Path)
    parser.add_argument("--precision", default="fp32", help="Of the cross-encoder")
    parser.add_argument("--k", type=int, help="Candidates; default the pipeline's")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    linker, _ = linker_of(load_pipeline(arguments.pipeline))
    kb = linker.kb
    with tempfile.TemporaryDirectory() as scratch:
        kept = arguments.keep or Path(scratch)
        kept.mkdir(parents=True, exist_ok=True)
        tune, test = (
            ask(linker, read_documents(path), k=arguments.k or linker.settings.k,
                known=kept / f"{name}.arrow")
            for name, path in (("tune", arguments.tune), ("test", arguments.test))
        )  # fmt: skip
        folder = Path(scratch) / "mix"
        train(linker, tune, folder, dev=0.2)
        mix = LearnedMix(nil=False).opened(folder, index=linker.parts.index.fingerprint)
    results = {
        "none": measure(unresolved(linker, test), None, kb),
        "abbreviations": measure(test.documents, None, kb),
    }
    weights: dict[str, float] = {}
    for name, kind, tried in (
        ("prior", PriorReranker, PRIORS),
        ("coherence", CoherenceReranker, COHERENCES),
    ):
        scored = {w: measure(tune.documents, kind(w), kb).first.mean() for w in tried}
        weights[name] = max(scored, key=lambda weight: scored[weight])
        results[name] = measure(test.documents, kind(weights[name]), kb)
    learned: dict[str, tuple[Reranker, list[Document]]] = {"learned mix": (mix, tune.documents)}
    if arguments.cross_encoder:
        reads = make_cross_encoder(nil=False, precision=arguments.precision)
        cross = reads.opened(arguments.cross_encoder, index=linker.parts.index.fingerprint)
        new = is_held([document.name for document in tune.documents], Recipe.dev)
        unseen = [of for of, is_new in zip(tune.documents, new, strict=True) if is_new]
        learned["cross-encoder"] = cross, unseen
    errors = {}
    for name, (rerank, fitted) in learned.items():
        results[name] = measure(test.documents, rerank, kb)
        weigh = calibrated(linker, fitted, rerank)
        errors[name] = {
            "ece": calibration_error(results[name]),
            "ece_calibrated": calibration_error(measure(test.documents, rerank, kb, weigh)),
        }
    show(results, weights, errors)


def calibrated(linker: BergamotLinker, documents: list[Document], rerank: Reranker) -> Weigh:
    """Return what gives candidates the probabilities that are fitted to reranked documents."""
    groups = linker.parts.groups
    found = [one for of in documents for one in rerank(of.mentions, of.candidates, linker.kb)]
    golds = [gold.concepts for of in documents for gold in of.golds]
    mentions = [mention for of in documents for mention in of.mentions]
    made = Calibration.fit(found, golds, groups, mentions=mentions)
    return lambda candidates, mention: made(candidates, groups, mention)


def calibration_error(measured: Measured) -> float:
    """Return the calibration error of the best candidates' probabilities."""
    return round(expected_calibration_error(measured.sure, measured.right.astype(float)), 4)


def unresolved(linker: BergamotLinker, asked: Asked) -> list[Document]:
    """Return the documents with the candidates of short forms as they stand."""
    documents = []
    for document in asked.documents:
        found = list(document.candidates)
        rows = [row for row, mention in enumerate(document.mentions) if mention.long_form]
        names = [(normalize(document.mentions[row].surface), "") for row in rows]
        made = linker.generator.generate(names, k=asked.facts["k"])
        for row, one in zip(rows, made, strict=True):
            found[row] = one
        documents.append(replace(document, candidates=found))
    return documents


def measure(
    documents: list[Document],
    rerank: Reranker | None,
    kb: KnowledgeBase,
    weigh: Weigh | None = None,
) -> Measured:
    """Rerank, and compare with the gold. weigh (Weigh | None): Adds probabilities."""
    rows = []
    started = time.perf_counter()
    ranked = [
        rerank(of.mentions, of.candidates, kb) if rerank else of.candidates for of in documents
    ]
    seconds = time.perf_counter() - started
    sure: list[tuple[float, bool]] = []
    for number, (document, found) in enumerate(zip(documents, ranked, strict=True)):
        asked = zip(document.mentions, found, document.golds, strict=True)
        for mention, candidates, gold in asked:
            right = [one.concept_id in gold.concepts for one in candidates[:5]]
            if gold.is_known:
                rows.append((any(right[:1]), any(right), number))
            for one in (weigh(candidates, mention) if weigh else candidates)[:1]:
                sure.append((one.score if one.probability is None else one.probability, right[0]))
    first, fifth, owners = map(np.array, zip(*rows, strict=True))
    probable, hits = map(np.array, zip(*sure, strict=True))
    count = sum(len(document.mentions) for document in documents)
    return Measured(first, fifth, owners, probable, hits, 1000 * seconds / count)


def show(
    results: dict[str, Measured],
    weights: dict[str, float],
    errors: dict[str, dict[str, float]],
) -> None:
    base = results["abbreviations"]
    print(
        f"{'':15}{'weight':>8}{'Acc@1':>8}{'95 %':>15}{'Acc@5':>8}{'gain':>8}{'95 %':>17}{'ms':>8}"
    )
    figures = {}
    for name, one in results.items():
        low, high = bootstrap_interval(one.first, one.documents)
        gain = compare(one.first, base.first, base.documents)
        interval = f"{gain['low']:+.2f} to {gain['high']:+.2f}"
        values = 100 * one.first.mean(), 100 * one.fifth.mean()
        print(
            f"{name:15}{weights.get(name, ''):>8}{values[0]:>8.2f}"
            f"{f'{100 * low:.1f}-{100 * high:.1f}':>15}{values[1]:>8.2f}"
            f"{gain['difference']:>+8.2f}{interval:>17}"
            f"{one.milliseconds:>8.2f}"
        )
        figures[name] = {
            "acc_1": round(float(values[0]), 2),
            "acc_5": round(float(values[1]), 2),
            "gain": round(gain["difference"], 2),
            "gain_low": round(gain["low"], 2),
            "gain_high": round(gain["high"], 2),
            "mcnemar_p": float(f"{gain['mcnemar_p']:.2g}"),
            "ms": round(one.milliseconds, 3),
        }
    for name, of in errors.items():
        figures[name] |= of
        print(f"expected calibration error of the {name}: {of}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
