"""`python -m training encode`: the vectors of a knowledge base's aliases, by one or many GPUs."""

import os
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_strings import index_strings
from spacy_bergamot.index.distinct import group_names
from spacy_bergamot.index.vector_store import fill, plan_of
from spacy_bergamot.kb.concept_table import ConceptTable
from training.options import Concepts, Device, Lm, Precision


def encode_cli(
    concepts: Concepts,
    lm: Lm,
    output: Annotated[Path, typer.Argument(help="Folder for the vectors, such as models/vectors")],
    device: Device = "auto",
    precision: Precision = "fp32",
    dtype: Annotated[str, typer.Option(help="of the vectors: float32, float16")] = "float32",
) -> None:
    """Encode every alias into shards, ahead of `spacy assemble --paths.alias_vectors OUTPUT`.

    A run that was killed goes on where it was. Under torchrun or accelerate the shards are shared
    out, and each process takes the GPU of its local rank.
    """
    rank, processes = (int(os.environ.get(k, d)) for k, d in (("RANK", "0"), ("WORLD_SIZE", "1")))
    if processes > 1 and device in ("auto", "cuda"):
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    encoder = TextEncoder.open(lm, device=device, precision=precision)
    strings, _, _ = index_strings(ConceptTable.open(concepts))
    names = strings.take(pa.array(group_names(encoder, strings).first))
    plan = plan_of(names, encoder, lm_fingerprint=fingerprint(lm), dtype=dtype)
    folder = output / plan.id[:16]
    fill(folder, names, encoder, plan, rank=rank, processes=processes, progress=True)
    typer.echo(f"{plan.count} vectors of {len(strings)} names in {plan.shards} shards: {folder}")
