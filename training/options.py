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
Precision = Annotated[str, typer.Option(help="of the LM's weights: fp32, bf16, fp16")]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU number, -1 for the CPU")]
