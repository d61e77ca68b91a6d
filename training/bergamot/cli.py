"""`python -m training train`: arguments in, `training.bergamot.run.train` does the work."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from training.errors import BergamotError, Errors
from training.options import GpuId


def train_cli(
    context: typer.Context,
    config_path: Annotated[
        Path, typer.Argument(help="Training config, such as configs/train/bergamot_gat.cfg")
    ],
    gpu_id: GpuId = -1,
) -> None:
    """Train a language model with BERGAMOT's objectives and export it to paths.output/lm.

    Every setting can be overridden as in spaCy: --training.max_steps 100 --paths.output DIR.
    An interrupted run goes on where it was when the same command is given again.
    """
    from training.bergamot.config import read_config
    from training.bergamot.run import train

    config = read_config(config_path, parse_overrides(context.args))
    path = train(config, device=device_of(gpu_id))
    if os.environ.get("RANK", "0") == "0":
        typer.echo(f"Language model: {path}")


def device_of(gpu_id: int) -> str:
    """Return the torch device of a spaCy-style GPU id. RAISES (BergamotError): T201.

    Started by torchrun or accelerate, each process takes the GPU of its own local rank.
    """
    import torch

    from training.bergamot.processes import local_rank

    if gpu_id < 0:
        return "cpu"
    gpu_id += local_rank()
    count = torch.cuda.device_count()
    if gpu_id >= count:
        raise BergamotError(Errors.T201, gpu_id=gpu_id, count=count)
    return f"cuda:{gpu_id}"


def parse_overrides(arguments: list[str]) -> dict[str, Any]:
    """Read ["--a.b", "1", "--c.d=x"] as {"a.b": 1, "c.d": "x"}; values are JSON or plain text."""
    overrides: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        key, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or "." not in key:
            raise BergamotError(Errors.T215, option=argument)
        if not equals:
            value = next(rest, "")
        try:
            overrides[key] = json.loads(value)
        except json.JSONDecodeError:
            overrides[key] = value
    return overrides
