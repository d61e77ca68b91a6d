"""Every coded error is raised somewhere, with just the values that its text names."""

import ast
import string
from pathlib import Path

import pytest

from spacy_bergamot.annotate.errors import Errors as AnnotateErrors
from spacy_bergamot.kb_import.errors import Errors as KbErrors
from spacy_bergamot.linking.errors import Errors as LinkingErrors
from spacy_bergamot.linking.errors import Warnings
from training.errors import Errors as TrainingErrors

ROOT = Path(__file__).parents[1]
CODE = [path for name in ("spacy_bergamot", "training") for path in (ROOT / name).rglob("*.py")]
OWNERS = (AnnotateErrors, LinkingErrors, Warnings, KbErrors, TrainingErrors)
MESSAGES = {
    code: getattr(owner, code)
    for owner in OWNERS
    for code in dir(owner)
    if code[:1].isupper() and code[1:].isdigit()
}


def raised(path: Path) -> list[tuple[int, str, set[str] | None]]:
    """Return line, code and names of values of a file's errors; None for values not spelt out."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Attribute):
            code = node.args[0].attr
            if code in MESSAGES:
                names = [keyword.arg for keyword in node.keywords]
                spelt = None if None in names else {name for name in names if name}
                found.append((node.lineno, code, spelt))
    return found


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.name)
def test_an_error_is_given_the_values_that_it_names(path: Path):
    for line, code, given in raised(path):
        named = {field for _, field, _, _ in string.Formatter().parse(MESSAGES[code]) if field}
        assert given is None or given == named, f"{path}:{line} {code}"


def test_every_error_is_used():
    text = "".join(path.read_text(encoding="utf8") for path in CODE)
    assert [code for code in MESSAGES if f".{code}" not in text] == []
