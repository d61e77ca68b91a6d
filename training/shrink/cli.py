"""`python -m training shrink`: a smaller copy of a language model."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.text import comma_separated
from training.options import Lm
from training.shrink.run import shrink
from training.shrink.vocabulary import Vocabulary


def shrink_cli(
    lm: Lm,
    output: Annotated[Path, typer.Argument(help="Folder for the smaller one")],
    names: Annotated[
        Path | None,
        typer.Option(
            help="Concept table whose names are to keep their vectors; without a cut all do"
        ),
    ] = None,
    text: Annotated[
        list[Path] | None,
        typer.Option(help="Text file, or folder of .txt files, in your language; repeatable"),
    ] = None,
    script: Annotated[
        list[str] | None,
        typer.Option(help="Script whose pieces all stay: thai, or thai,hangul; repeatable"),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            help="of the weights on disk: fp16, bf16, fp32, or fp8, which only linking and "
            "training from it can open"
        ),
    ] = "fp16",
    vocabulary: Annotated[
        str | None,
        typer.Option(
            help="keep all pieces; reachable: without those that hold capitals; cut: those that "
            "names and texts use, and single characters. Default cut with --names or --text"
        ),
    ] = None,
    size: Annotated[
        int,
        typer.Option(min=0, help="Pieces of a cut vocabulary; 0, as many as names and texts use"),
    ] = 0,
) -> None:
    """Write a smaller copy of a language model: half precision, and fewer pieces of words.

    TextEncoder computes in the precision that it is asked for, whatever is on disk.
    """
    kind = vocabulary or ("cut" if names or text else "keep")
    scripts = [one for several in script or () for one in comma_separated(several)]
    cut = names if kind == "cut" else None
    made = Vocabulary(kind, names=cut, texts=text or (), scripts=scripts, size=size or None)
    facts = shrink(lm, output, dtype=dtype, vocabulary=made)
    typer.echo(
        f"{facts['pieces_before']} to {facts['pieces']} pieces, "
        f"{facts['bytes_before'] / 1e6:.1f} to {facts['bytes'] / 1e6:.1f} MB: {output}"
    )
