"""`python -m training base`: a pretrained language model, as it is, in a folder of ours."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from spacy_bergamot.encoder.multilingual_e5 import MULTILINGUAL
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import TextEncoder, write_lm_manifest
from spacy_bergamot.storage.files import atomic_folder
from training.bergamot.multilingual import make_multilingual_e5
from training.bergamot.text_encoders import BaseModel, make_huggingface
from training.errors import BergamotError, Errors


def base_cli(
    name: Annotated[
        str,
        typer.Argument(help=f"Hugging Face folder, name on the hub, or {MULTILINGUAL} (a package)"),
    ],
    output: Annotated[Path, typer.Argument(help="Folder for it, such as models/base")],
    pooling: Annotated[
        str, typer.Option(help="cls or mean; what the model's folder says where not given")
    ] = "",
    max_length: Annotated[
        int | None, typer.Option(min=3, help="Tokens kept of a name; as the folder says, else 25")
    ] = None,
) -> None:
    """Put a pretrained language model in place for evaluation, index and pipeline, untrained.

    Weights become safetensors, the tokenizer tokenizer.json; how names are pooled is written
    beside them. No code that comes with a model is run.
    """
    settings = make_base(name, output, pooling=pooling or None, max_length=max_length)
    typer.echo(
        f"{output}: {settings.pooling} pooling, at most {settings.max_length} tokens per name"
    )


def make_base(
    name: str, output: Path, *, pooling: str | None = None, max_length: int | None = None
) -> EncoderSettings:
    """Put a language model at `output`, whole or not at all; the same files on every run.

    RAISES (BergamotError): B104 if it cannot be had, or makes no vectors of names; else as
        `place_lm` and `make_multilingual_e5`.
    """
    prepare = base_model(name, pooling=pooling, max_length=max_length)
    with atomic_folder(output) as folder:
        settings = prepare(folder, pa.array([], pa.large_string()), 0)
        _check_vectors(folder, name)
        write_lm_manifest(folder)
    return settings


def base_model(name: str, **settings: Any) -> BaseModel:
    """Return what puts the model of a name in place.

    settings (Any): Of the model's factory; None leaves a setting to it.
    """
    if name != MULTILINGUAL or Path(name).exists():
        return make_huggingface(name, **settings)
    given = {key: value for key, value in settings.items() if value is not None}
    return make_multilingual_e5(**given)


def _check_vectors(folder: Path, name: str) -> None:
    """Raise B104 if the model is none that encodes names."""
    encoder = TextEncoder.open(folder)
    try:
        vectors = encoder.encode(["heart", "myocardial infarction"])
    except Exception as reason:
        raise BergamotError(
            Errors.B104, name=name, reason=f"it encodes no names ({reason})"
        ) from reason
    if not np.isfinite(vectors).all():
        raise BergamotError(Errors.B104, name=name, reason="its vectors are not finite")
