"""Runs a benchmark as its users do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.processes import ROOT, run


def figures(*arguments: str | Path) -> dict[str, Any]:
    """Return the JSON of a benchmark's last line."""
    return _last_line(run(*arguments))


def figures_alone(*arguments: str | Path) -> dict[str, Any]:
    """Return the same of a new interpreter: a fork counts memory that it shares."""
    command = [sys.executable, "-m", *map(str, arguments)]
    return _last_line(
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    )


def _last_line(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
