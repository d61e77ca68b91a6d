"""`python -m training evaluate-links`: linked documents against gold ones."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.files import atomic_file
from spacy_bergamot.pipelines import find_pipeline
from training.errors import BergamotError, Errors
from training.evaluate.documents import link_documents, read_documents
from training.evaluate.spans import score_documents


def evaluate_links_cli(
    predicted: Annotated[
        str, typer.Argument(help="spaCy pipeline that finds and links, or a .spacy file it linked")
    ],
    gold: Annotated[Path, typer.Argument(help="Corpus folder, or .spacy file with gold links")],
    output: Annotated[Path, typer.Argument(help="JSON file for the figures")],
    spans_key: Annotated[
        str | None, typer.Option(help="Links of doc.spans[KEY]; default doc.ents")
    ] = None,
) -> None:
    """Precision, recall and F1 of links in documents: strict, partial, and by document."""
    scores = score_links(predicted, gold, spans_key=spans_key)
    with atomic_file(output) as path:
        path.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf8")
    for name, rates in scores.items():
        typer.echo(f"{name:16}" + "".join(f"  {k} {rates[k]:5.1f}" for k in "prf"))


def score_links(
    predicted: str, gold: Path, *, spans_key: str | None = None
) -> dict[str, dict[str, float]]:
    """Score a `.spacy` file, or what a pipeline makes of the gold texts.

    RAISES (BergamotError): T144 or T146 if the documents are not the same.
    """
    if not predicted.endswith(".spacy"):
        find_pipeline(predicted)
    golds = read_documents(gold, spans_key=spans_key)
    if predicted.endswith(".spacy"):
        guesses = read_documents(Path(predicted), spans_key=spans_key)
    else:
        guesses = link_documents(predicted, [text for text, _ in golds], spans_key=spans_key)
    for number, ((text, _), (expected, _)) in enumerate(zip(guesses, golds, strict=False)):
        if text != expected:
            message = Errors.T146.format(number=number, found=text[:60], expected=expected[:60])
            raise BergamotError(message)
    return score_documents([links for _, links in guesses], [links for _, links in golds])
