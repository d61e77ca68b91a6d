"""`python -m training align`: concepts of one vocabulary matched with those of another."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.cli.results import make_parent
from spacy_bergamot.encoder.multilingual_e5 import MULTILINGUAL
from training.align.run import Method, align, beside


def align_cli(
    left: Annotated[
        Path, typer.Argument(help="Concept table, pipeline, RRF release, ontology or table")
    ],
    right: Annotated[Path, typer.Argument(help="The same; it is searched")],
    output: Annotated[Path, typer.Argument(help="Table of mappings, such as out.sssom.tsv")],
    seeds: Annotated[
        Path | None, typer.Option(help="SSSOM table of known pairs, to learn from")
    ] = None,
    method: Annotated[
        Method, typer.Option(help="OntoEA, which needs seeds, learns from hierarchies and types")
    ] = Method.NAMES,
    reference: Annotated[
        Path | None, typer.Option(help="SSSOM table of all pairs, to print how many were found")
    ] = None,
    lm: Annotated[
        str, typer.Option(help="Language model, as `index` takes it; a pipeline RIGHT has its own")
    ] = MULTILINGUAL,
    k: Annotated[
        int, typer.Option(min=1, help="Concepts found for a name, or by OntoEA for a concept")
    ] = 20,
    device: Annotated[str, typer.Option(help="torch device: cpu, auto, cuda:0")] = "auto",
    precision: Annotated[
        str, typer.Option(help="of the LM's weights: fp32, bf16, fp16, auto")
    ] = "fp32",
    vectors: Annotated[
        Path | None, typer.Option(help="Keep RIGHT's vectors here, to go on or run again")
    ] = None,
) -> None:
    """Match two vocabularies: local codes, ICD or Orphanet with a knowledge base.

    Names decide first, in normal and in folded form; then names that are near by 3-grams and by
    language model. With `--method ontoea` parents and semantic types decide, by embeddings that
    seeds teach; with `both` they are one more score. Concepts of different semantic groups are
    never matched, and each concept once. OUT.sssom.tsv has what was matched, OUT.review.sssom.tsv
    and OUT.html what somebody should look at. `python -m training import` merges by the first.
    """
    make_parent(output)
    counts = align(
        left,
        right,
        output,
        lm=lm,
        seeds=seeds,
        reference=reference,
        method=method,
        k=k,
        device=device,
        precision=precision,
        vectors=vectors,
    )
    for name, figures in counts["figures"].items():
        typer.echo(f"{name}: " + ", ".join(f"{key} {value}" for key, value in figures.items()))
    typer.echo(
        f"{counts['left']:,} concepts and {counts['right']:,}: {counts['taken']:,} matched from "
        f"confidence {counts['threshold']} on, {counts['doubtful']:,} for review, "
        f"{counts['conflicting']:,} pairs of other semantic groups dropped\n"
        f"{output}, {beside(output, 'review.sssom.tsv')}, {beside(output, 'html')}"
    )
