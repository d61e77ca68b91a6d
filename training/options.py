"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

Concepts = Annotated[Path, typer.Argument(help="Concept table, such as corpus/kb")]
Dictionary = Annotated[Path, typer.Argument(help="Dictionary of CUI||name lines")]
Lm = Annotated[Path, typer.Argument(help="Language model folder, such as models/train/lm")]
Figures = Annotated[Path, typer.Argument(help="JSON file for the figures")]
MoreSets = Annotated[
    list[str] | None, typer.Option("--set", help="Another set, PATH or NAME=PATH; repeatable")
]
Device = Annotated[str, typer.Option(help="torch device: cpu, auto, cuda:0")]
Precision = Annotated[str, typer.Option(help="of the LM's weights: fp32, bf16, fp16, auto")]
Pipeline = Annotated[str, typer.Argument(help="spaCy pipeline with a bergamot_linker")]
GoldDocuments = Annotated[
    Path, typer.Argument(help="Gold documents: .spacy with kb ids, or a form of `training corpus`")
]
DevShare = Annotated[float, typer.Option(help="Share of the documents to choose and report by")]
Epochs = Annotated[int, typer.Option(min=1, help="Passes over the documents")]
LearnRate = Annotated[float, typer.Option(help="At its highest")]
Narrow = Annotated[str, typer.Option(help="fp32, bf16, or auto: bf16 where the processor has it")]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU number, -1 for the CPU")]
