"""The command, and the tables that it writes."""

import csv
from pathlib import Path

from typer.testing import CliRunner

from training.__main__ import app


def run(*arguments: object, status: int = 0) -> str:
    """Run the command; return what it says, or its error."""
    result = CliRunner().invoke(app, ["align", *map(str, arguments), "--device", "cpu"])
    if status:
        assert result.exception is not None
        return str(result.exception)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text("utf8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def mapped(path: Path) -> dict[str, str]:
    return {row["subject_id"]: row["object_id"] for row in rows(path)}
