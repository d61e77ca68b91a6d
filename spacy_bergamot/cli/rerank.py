"""`rerank`: a pipeline with a trained reranker in it."""

import shutil
from pathlib import Path
from typing import Annotated

import spacy
import typer

from spacy_bergamot.cli.app import Pipeline, bergamot, explained
from spacy_bergamot.cli.results import prepare_folder
from spacy_bergamot.encoder.settings import read_json
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.linking.cross_encoder import KIND as CROSS_ENCODER
from spacy_bergamot.pipeline.loaders import reranker
from spacy_bergamot.pipeline.parts import CALIBRATION, RERANKER
from spacy_bergamot.pipeline.pipeline_files import list_files
from spacy_bergamot.pipeline.pipelines import FACTORY, find_pipeline, load_pipeline
from spacy_bergamot.storage.files import MANIFEST, atomic_folder


@bergamot.command("rerank")
def rerank_cli(
    pipeline: Pipeline,
    folder: Annotated[Path, typer.Argument(help="What `python -m training rerank` made")],
    output: Annotated[Path, typer.Argument(help="Folder of the new pipeline")],
    nil: Annotated[
        bool, typer.Option(help="Link nothing where NIL is likelier than every candidate")
    ] = True,
) -> None:
    """Put a learned mix or a cross-encoder into a copy of a pipeline.

    Scores are probabilities from then on. A calibration belongs to the scores that it was fitted
    to, so that of the pipeline is left out, and min_probability with it; `calibrate` fits another.
    """
    with explained():
        prepare_folder(output)
        settings = {"@misc": _registered(folder), "nil": nil}
        was_calibrated = with_reranker(find_pipeline(pipeline), folder, settings, output)
    left = "; its calibration is left out: calibrate it again" if was_calibrated else ""
    typer.echo(f"{output}: reranked by {folder}{left}", err=True)


def with_reranker(pipeline: Path, folder: Path, settings: dict[str, object], output: Path) -> bool:
    """Write a pipeline with a trained reranker, whole or not at all.

    pipeline (Path): The pipeline's folder.
    folder (Path): The trained reranker.
    settings (dict): What `rerank` of its linker is to be.
    output (Path): Folder of the new pipeline.
    RETURNS (bool): Whether the pipeline had a calibration, which the new one has not.
    RAISES (BergamotError): B047 if the pipeline has no linker, else as loading the new one does.
    """
    config = spacy.util.load_config(pipeline / "config.cfg", interpolate=False)
    linkers = [key for key, of in config["components"].items() if of.get("factory") == FACTORY]
    if not linkers:
        components = ", ".join(config["components"])
        raise BergamotError(Errors.B047, component=FACTORY, components=components)
    name = linkers[0]
    calibration = Path(name, CALIBRATION)
    was_calibrated = (pipeline / calibration).is_dir()
    config["components"][name].update(rerank=settings, min_probability=None)
    with atomic_folder(output) as made:
        shutil.copytree(pipeline, made, dirs_exist_ok=True)
        for part in (calibration, Path(name, RERANKER)):
            shutil.rmtree(made / part, ignore_errors=True)
        reranker(str(folder))(made / name / RERANKER)
        config.to_disk(made / "config.cfg")
        try:
            load_pipeline(str(made))
        except BergamotError as error:  # says where the copies were
            said = str(error).replace(str(made / name / RERANKER), str(folder))
            raise BergamotError(said.replace(str(made), str(output))) from None
        list_files(made)
    return was_calibrated


def _registered(folder: Path) -> str:
    """Return the registered name of what a folder was trained for.

    RAISES (BergamotError): B001 if it has no manifest, B002 if that cannot be read.
    """
    if not (folder / MANIFEST).is_file():
        remedy = "Train a reranker: python -m training rerank PIPELINE CORPUS OUTPUT"
        raise BergamotError(Errors.B001, path=folder / MANIFEST, remedy=remedy)
    is_read = read_json(folder / MANIFEST, "a manifest").get("kind") == CROSS_ENCODER
    return "spacy_bergamot.CrossEncoder.v1" if is_read else "spacy_bergamot.LearnedMix.v1"
