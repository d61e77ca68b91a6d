"""Runs a benchmark as its users do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def figures(*arguments: str | Path) -> dict[str, Any]:
    """Return the JSON of a benchmark's last line."""
    command = [sys.executable, "-m", *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])
