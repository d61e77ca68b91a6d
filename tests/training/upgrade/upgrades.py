"""Upgrades in tests: the command, and what it reports."""

import json
from pathlib import Path

from tests.training import commands


def run(*arguments: object, status: int = 0) -> str:
    """Run the command; return what it says, or its error."""
    return commands.run("upgrade", *arguments, "--device", "cpu", status=status)


def report_of(output: Path) -> dict:
    return json.loads(output.with_name(f"{output.name}.upgrade.json").read_text("utf8"))
