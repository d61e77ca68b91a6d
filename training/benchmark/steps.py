"""Steps that are skipped where their inputs are those of the last time."""

import hashlib
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spacy_bergamot import __version__
from spacy_bergamot.storage.files import write_text
from training.errors import BergamotError, Errors

logger = logging.getLogger(__name__)


class Steps:
    """The steps of one run: each makes a file or folder in `folder`, and NAME.json says from what.

    marks (dict[str, str]): Hash of the inputs of each step so far. done (list[str]): Those that
        were not skipped.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marks: dict[str, str] = {}
        self.done: list[str] = []

    def run(self, name: str, make: Callable[[Path], object], **inputs: Any) -> Path:
        """Return what a step made, now or the last time.

        name (str): Of the step and of its file or folder.
        make (Callable): Takes the path, and writes it whole or not at all.
        inputs: What it depends on, as plain values or paths; an earlier step as its path.
        RAISES (BergamotError): B101 if there is something that no step made.
        """
        target = self.folder / name
        stamp = target.with_name(f"{name}.inputs.json")
        mark = self._mark(inputs)
        self.marks[name] = mark
        if target.exists():
            if not stamp.is_file():
                reason = "is there, and no benchmark made it"
                raise BergamotError(Errors.B101, path=target, reason=reason)
            if json.loads(stamp.read_text("utf8")).get("mark") == mark:
                logger.info("%s: as it was made", target)
                return target
            _remove(target)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(stamp, {})  # what is there from now on is ours, also after an end
        logger.info("%s …", target)
        make(target)
        self._write(stamp, {"mark": mark})
        self.done.append(name)
        return target

    def _mark(self, inputs: dict[str, Any]) -> str:
        seen = {key: self._state(value) for key, value in inputs.items()}
        content = json.dumps([__version__, seen], sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()

    def _state(self, value: Any) -> Any:
        """Return what an input is now: of files their sizes and times, of a step its inputs."""
        if not isinstance(value, Path):
            return value
        if value.parent == self.folder and value.name in self.marks:
            return self.marks[value.name]
        files = [value] if value.is_file() else sorted(f for f in value.rglob("*") if f.is_file())
        return [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files]

    def _write(self, stamp: Path, content: dict[str, str]) -> None:
        write_text(stamp, json.dumps(content) + "\n")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
