"""`python -m training evaluate-links`: linked documents against gold ones, by language."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.languages import NAMES
from spacy_bergamot.pipeline.pipelines import find_pipeline
from spacy_bergamot.storage.files import write_text
from spacy_bergamot.text import comma_separated
from training.errors import BergamotError, Errors
from training.evaluate.documents import link_documents, of_labels, read_documents
from training.evaluate.removed import render_removed, score_removed
from training.evaluate.spans import score_documents
from training.options import Figures


def evaluate_links_cli(
    predicted: Annotated[
        str, typer.Argument(help="spaCy pipeline that finds and links, or a .spacy file it linked")
    ],
    gold: Annotated[Path, typer.Argument(help="Corpus folder, or .spacy file with gold links")],
    output: Figures,
    spans_key: Annotated[
        str | None, typer.Option(help="Links of doc.spans[KEY]; default doc.ents")
    ] = None,
    labels: Annotated[
        str, typer.Option(help="Labels of the predicted mentions to score, such as DISO,ANAT")
    ] = "",
    gold_labels: Annotated[
        str, typer.Option(help="Labels (types) of the gold mentions to score")
    ] = "",
    remove_concepts: Annotated[
        float, typer.Option(help="Share of the gold concepts to hide from a pipeline: what of NIL?")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the concepts that are hidden")] = 0,
) -> None:
    """Precision, recall and F1 of mentions and links in documents, in all and by language.

    A corpus that has disorders alone: --labels DISO, or what else the pipeline marks is wrong.
    With --remove-concepts 0.2 the linker gets the gold mentions, and a fifth of their concepts are
    hidden from it: NIL's precision, recall and F1, and how precise links are by coverage.
    """
    if remove_concepts:
        scores = score_removed(predicted, gold, share=remove_concepts, seed=seed)
    else:
        scores = score_links(
            predicted,
            gold,
            spans_key=spans_key,
            labels=comma_separated(labels),
            gold_labels=comma_separated(gold_labels),
        )
    write_text(output, json.dumps(scores, indent=1) + "\n")
    typer.echo(render_removed(scores) if remove_concepts else render(scores))


def score_links(
    predicted: str,
    gold: Path,
    *,
    spans_key: str | None = None,
    labels: Sequence[str] = (),
    gold_labels: Sequence[str] = (),
) -> dict[str, Any]:
    """Score a `.spacy` file, or what a pipeline makes of the gold texts.

    labels, gold_labels (Sequence[str]): Of the predicted and of the gold mentions to score; all
        where empty.
    RETURNS (dict): As `score_documents`, with "languages" those of the gold documents; "left_out",
        the number of predicted mentions by label that was not asked for.
    RAISES (BergamotError): T146 if the documents are not the same, T295 if no gold mention
        has one of the labels.
    """
    if not predicted.endswith(".spacy"):
        find_pipeline(predicted)
    golds = read_documents(gold, spans_key=spans_key)
    if gold_labels:
        golds, others = of_labels(golds, gold_labels)
        if not any(document.links for document in golds):
            has = ", ".join(sorted(others)) or "none"
            raise BergamotError(Errors.T295, path=gold, labels=", ".join(gold_labels), found=has)
    if predicted.endswith(".spacy"):
        guesses = read_documents(Path(predicted), spans_key=spans_key)
    else:
        texts = [document.text for document in golds]
        guesses = link_documents(predicted, texts, spans_key=spans_key)
    for number, (guess, truth) in enumerate(zip(guesses, golds, strict=False)):
        if guess.text != truth.text:
            both = f"'{guess.text[:60]}' and '{truth.text[:60]}'"
            raise BergamotError(Errors.T146, reason=f"number {number} (from 0) is {both}")
    left_out: Counter[str] = Counter()
    if labels:
        guesses, left_out = of_labels(guesses, labels)
    found, expected = ([document.links for document in side] for side in (guesses, golds))
    scores = score_documents(found, expected, [document.language for document in golds])
    return {**scores, "left_out": dict(left_out)}


def render(scores: dict[str, Any]) -> str:
    """Return tables: every rate over all documents, and F1 by language where there are several."""
    measures = [name for name, rates in scores.items() if isinstance(rates, dict) and "p" in rates]
    lines = [
        f"In percent, with 95 % intervals over {scores['documents']} documents",
        _row("", ["precision", "recall", "F1"], "gold", "found"),
    ]
    for name in measures:
        rates = scores[name]
        lines.append(_row(name, [_cell(rates, k) for k in "prf"], rates["n"], rates["found"]))
    if len(scores["languages"]) > 1:
        lines += ["", "F1 by language", _row("", measures, "documents")]
        for code, by in scores["languages"].items():
            name = NAMES.get(code, code or "no language")
            lines.append(_row(name, [_cell(by[m], "f") for m in measures], by["documents"]))
    if scores["left_out"]:
        counts = ", ".join(f"{label} {n}" for label, n in sorted(scores["left_out"].items()))
        lines += ["", f"Predicted mentions of other labels, left out: {counts}"]
    return "\n".join(lines)


def _cell(rates: dict[str, Any], name: str) -> str:
    if not rates["n"] + rates["found"]:
        return "-"
    low, high = rates[f"{name}_low"], rates[f"{name}_high"]
    return f"{rates[name]:.1f}" + (f" ({low:.1f}-{high:.1f})" if low is not None else "")


def _row(name: str, cells: Sequence[str], *counts: object) -> str:
    return f"{name:16}" + "".join(f"{c:>21}" for c in cells) + "".join(f"{n:>10}" for n in counts)
