"""`python -m training cross-encoder`: learn to read a mention together with its candidates."""

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.encoder.multilingual_e5 import MULTILINGUAL
from training.cross_encoder.recipe import Recipe
from training.options import DevShare, Epochs, GoldDocuments, GpuId, LearnRate, Narrow, Pipeline


def cross_encoder_cli(
    pipeline: Pipeline,
    corpus: GoldDocuments,
    output: Annotated[Path, typer.Argument(help="Folder; OUTPUT/cross-encoder is made")],
    lm: Annotated[
        str, typer.Option(help="Language model that it begins from: a folder, or a name of `base`")
    ] = MULTILINGUAL,
    candidates: Annotated[
        int, typer.Option(min=2, help="Candidates of a mention that the linker is asked for")
    ] = 64,
    k: Annotated[int, typer.Option(min=1, help="Candidates that are read at most")] = Recipe.k,
    size: Annotated[int, typer.Option(help="Tokens of mention and candidate")] = Recipe.size,
    context: Annotated[
        int, typer.Option(min=0, help="Characters on either side of a mention")
    ] = Recipe.context,
    margin: Annotated[
        float, typer.Option(help="Mentions are read whose best two candidates are nearer")
    ] = Recipe.margin,
    rank_weight: Annotated[
        float, typer.Option(min=0, help="Of the rank regularisation")
    ] = Recipe.rank_weight,
    remove_concepts: Annotated[
        float, typer.Option(help="Share of the gold concepts to hide as well, which teaches NIL")
    ] = 0.0,
    dev: DevShare = Recipe.dev,
    epochs: Epochs = Recipe.epochs,
    batch_mentions: Annotated[
        int, typer.Option(min=1, help="Mentions per step")
    ] = Recipe.batch_mentions,
    learn_rate: LearnRate = Recipe.learn_rate,
    precision: Narrow = Recipe.precision,
    seed: Annotated[
        int, typer.Option(help="Of order, dropout, head and hidden concepts")
    ] = Recipe.seed,
    gpu_id: GpuId = -1,
) -> None:
    """Learn to read a mention in its context together with each of its candidates.

    A learned mix is fitted first; the cross-encoder reads what that is in doubt of. The same
    command goes on behind the last checkpoint of an interrupted run. `python -m spacy bergamot
    rerank` then puts OUTPUT/cross-encoder into the pipeline.
    """
    from spacy_bergamot.pipeline.pipelines import find_pipeline, linker_of, load_pipeline
    from training.bergamot.cli import device_of
    from training.cross_encoder.train import FOLDER, train_cross_encoder
    from training.rerank.ask import ask, read_documents

    recipe = Recipe(
        epochs=epochs,
        batch_mentions=batch_mentions,
        learn_rate=learn_rate,
        rank_weight=rank_weight,
        k=k,
        size=size,
        context=context,
        margin=margin,
        dev=dev,
        precision=precision,
        seed=seed,
    )
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    find_pipeline(pipeline)
    linker, _ = linker_of(load_pipeline(pipeline))
    documents = read_documents(corpus)
    output.mkdir(parents=True, exist_ok=True)
    shares = [("candidates", 0.0)] + [("hidden", remove_concepts)] * bool(remove_concepts)
    asked = [
        ask(linker, documents, k=candidates, remove=share, seed=seed,
            known=output / f"{name}.arrow")
        for name, share in shares
    ]  # fmt: skip
    report = train_cross_encoder(
        linker, asked, _placed(lm, output / "base"), output, recipe, device=device_of(gpu_id)
    )
    typer.echo(render(report))
    typer.echo(str(output / FOLDER))


def _placed(lm: str, folder: Path) -> Path:
    """Return the folder of a language model; one that is a name is put in place once."""
    from spacy_bergamot.storage.files import MANIFEST
    from training.base import make_base

    if Path(lm).is_dir():
        return Path(lm)
    if not (folder / MANIFEST).is_file():
        make_base(lm, folder)
    return folder


def render(report: dict[str, Any]) -> str:
    """Return the report as lines."""
    best = report["best"]
    lines = [", ".join(f"{count} {what}" for what, count in report["counts"].items() if count)]
    lines.append(
        f"Development part, {best['mentions']} mentions, 95 % intervals over documents; "
        f"{100 * best['read']:.0f} % of all were read"
    )
    for name in ("before", "mix", "cross_encoder", "both"):
        value, low, high = best[f"acc@1_{name}"]
        lines.append(f"Acc@1 {name.replace('_', '-'):15} {value:6.2f} ({low:.2f}-{high:.2f})")
    for key, name in (("gain", "gain"), ("gain_over_mix", "gain over the mix")):
        of = best[key]
        lines.append(f"{name:21} {of['difference']:+6.2f} ({of['low']:+.2f}-{of['high']:+.2f})")
    lines.append(
        f"Acc@1 with NIL {best['acc@1']:.2f}, NIL F1 {best['nil_f1']:.2f}, "
        f"calibration error {best['ece']:.4f}"
    )
    return "\n".join(lines)
