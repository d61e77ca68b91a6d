"""`python -m training`, in this process."""

from typer.testing import CliRunner

from training.__main__ import app


def run(*arguments: object, status: int = 0) -> str:
    """Run a command; return what it says, or its error."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if status:
        assert result.exception is not None
        return str(result.exception)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output
