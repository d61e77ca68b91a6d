"""Upgrades in tests: the command, and what it reports."""

import json
from pathlib import Path

from typer.testing import CliRunner

from training.__main__ import app


def run(*arguments: object, status: int = 0) -> str:
    """Run the command; return what it says, or its error."""
    result = CliRunner().invoke(app, ["upgrade", *map(str, arguments), "--device", "cpu"])
    if status:
        assert result.exception is not None
        return str(result.exception)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def report_of(output: Path) -> dict:
    return json.loads(output.with_name(f"{output.name}.upgrade.json").read_text("utf8"))
