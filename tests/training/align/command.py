"""The command, and the tables that it writes."""

import csv
from pathlib import Path

from tests.training import commands


def run(*arguments: object, status: int = 0) -> str:
    """Run the command; return what it says, or its error."""
    return commands.run("align", *arguments, "--device", "cpu", status=status)


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text("utf8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def mapped(path: Path) -> dict[str, str]:
    return {row["subject_id"]: row["object_id"] for row in rows(path)}
