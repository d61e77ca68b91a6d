"""`python -m training translate`: an annotated corpus in another language."""

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.languages import iso
from training.corpora.registry import lat
from training.errors import BergamotError, Errors, check_choice
from training.translate.marks import FORMS
from training.translate.translators import load_translator

PROJECTIONS = ("marks", "search")


def translate_cli(
    corpus: Annotated[Path, typer.Argument(help="Corpus folder, or a form of `training corpus`")],
    output: Annotated[Path, typer.Argument(help="Folder for the translated corpus")],
    translator: Annotated[
        str, typer.Option(help="hf:FOLDER of a model, or module:function of texts to texts")
    ],
    target: Annotated[str, typer.Option(help="Language to translate into, such as fr")],
    marks: Annotated[str, typer.Option(help=f"How mentions are marked: {', '.join(FORMS)}")] = (
        "brackets"
    ),
    project: Annotated[
        str,
        typer.Option(
            help="marks: mentions are marked and translated with their sentence; search: they are "
            "translated by themselves and looked for, for models that mangle marks"
        ),
    ] = "marks",
    device: Annotated[str, typer.Option(help="torch device of a model: cpu, cuda:0")] = "cpu",
) -> None:
    """Translate a corpus sentence by sentence, mentions with it; count what is lost and why.

    Translated sentences are kept beside the output, so that the same command goes on after an
    end. Train on the result; evaluate on a corpus that was written in the language.
    """
    from training.rerank.ask import read_documents
    from training.translate.run import Remembered, translate_corpus

    check_choice("--marks", marks, FORMS)
    check_choice("--project", project, PROJECTIONS)
    read = read_documents(corpus)
    lat(target)  # which refuses what is no language
    languages = Counter(read.documents["language"].to_pylist()).most_common()
    if not languages:
        what, remedy = "document with a text to find mentions in", "Give another corpus."
        raise BergamotError(Errors.T296, path=corpus, what=what, remedy=remedy)
    source = iso(languages[0][0])
    function = load_translator(translator, source=source, target=target, device=device)
    whose = hashlib.sha256(f"{translator} {source} {target}".encode()).hexdigest()[:8]
    kept = output.with_name(f"{output.name}.{whose}.jsonl")
    made, counts = translate_corpus(
        read, Remembered(function, kept), target=target, marks=marks, project=project
    )
    settings = {"translator": translator, "source": source, "target": target}
    facts = {"translation": {**settings, "marks": marks, "project": project, **counts}}
    replace(made, facts={**read.facts, **facts}).write(output)
    share = 100 * (1 - counts["kept"] / max(1, counts["mentions"]))
    typer.echo(f"{counts['kept']} of {counts['mentions']} mentions kept, {share:.2f} % lost")
    for what, count in counts["counts"].items():
        typer.echo(f"{count:8} {what}")
