"""Where logged values go beside the console. Nothing is sent anywhere unless a config says so."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spacy_bergamot.errors import importing
from training.registry import registry

Write = Callable[[int, Mapping[str, float]], None]
Logger = Callable[[Path, Mapping[str, Any]], Write]
"""The run's folder and config in; a function that takes a step and its values, out."""


@registry.loggers("tensorboard.v1")
def make_tensorboard(folder: str = "tensorboard") -> Logger:
    """Write TensorBoard events into a folder of the run."""

    def start(output: Path, config: Mapping[str, Any]) -> Write:
        with importing("The logger tensorboard.v1", packages="tensorboard"):
            from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter(str(output / folder))

        def write(step: int, values: Mapping[str, float]) -> None:
            for name, value in values.items():
                writer.add_scalar(name, value, step)
            writer.flush()

        return write

    return start


@registry.loggers("wandb.v1")
def make_wandb(project: str, name: str | None = None, mode: str = "online") -> Logger:
    """Send values to Weights & Biases; `mode = "offline"` keeps them on disk."""

    def start(output: Path, config: Mapping[str, Any]) -> Write:
        with importing("The logger wandb.v1", packages="wandb"):
            import wandb
        run = wandb.init(
            project=project, name=name, mode=mode, dir=str(output), config=dict(config)
        )
        return lambda step, values: run.log(dict(values), step=step)

    return start
