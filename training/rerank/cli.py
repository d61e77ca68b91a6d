"""`python -m training rerank`: learn which candidate of a mention its context means."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.pipeline.pipelines import find_pipeline, linker_of, load_pipeline
from training.options import DevShare, GoldDocuments, Pipeline
from training.rerank.ask import ask, read_documents
from training.rerank.run import train


def rerank_cli(
    pipeline: Pipeline,
    corpus: GoldDocuments,
    output: Annotated[Path, typer.Argument(help="Folder for the learned mix")],
    candidates: Annotated[
        Path | None,
        typer.Option(help="File that keeps the candidates; default OUTPUT.candidates.arrow"),
    ] = None,
    k: Annotated[
        int | None, typer.Option(min=2, help="Candidates of a mention; default the pipeline's")
    ] = None,
    remove_concepts: Annotated[
        float, typer.Option(help="Share of the gold concepts to hide, which teaches NIL")
    ] = 0.0,
    dev: DevShare = 0.2,
    seed: Annotated[int, typer.Option(help="Of the concepts that are hidden")] = 0,
) -> None:
    """Learn to rerank candidates by names, prior, context and coherence, in seconds.

    The linker is asked for the candidates once, without its reranker; they are kept in a file, so
    that a second run on the same corpus asks for nothing. `python -m spacy bergamot rerank` then
    puts the folder into the pipeline.
    """
    find_pipeline(pipeline)
    kept = candidates or output.with_name(f"{output.name}.candidates.arrow")
    linker, _ = linker_of(load_pipeline(pipeline))
    asked = ask(
        linker,
        read_documents(corpus),
        k=k or linker.settings.k,
        remove=remove_concepts,
        seed=seed,
        known=kept,
    )
    typer.echo(render(train(linker, asked, output, dev=dev)))


def render(report: dict[str, Any]) -> str:
    """Return the report as lines."""
    dev, gain = report["dev"], report["dev"]["gain"]
    counts = ", ".join(f"{count} {what}" for what, count in report["counts"].items() if count)
    lines = [f"{report['documents']} documents: {counts}"]
    lines.append(f"Development part, {dev['mentions']} mentions, 95 % intervals over documents")
    for name, text in (("before", "before"), ("after", "after"), ("after_with_nil", "with NIL")):
        value, low, high = dev[f"acc@1_{name}"]
        lines.append(f"Acc@1 {text:10} {value:6.2f} ({low:.2f}-{high:.2f})")
    lines.append(
        f"difference       {gain['difference']:+6.2f} ({gain['low']:+.2f}-{gain['high']:+.2f}), "
        f"McNemar p {gain['mcnemar_p']:.2g}"
    )
    lines.append(f"calibration error {dev['ece']:.4f}; penalty {report['strength']:g}")
    return "\n".join(lines)
