"""Docstrings of this project, whose arguments are lines "k (int): …", as lists in Markdown."""

import re
from typing import Any

from griffe import Extension

_ARGUMENT = re.compile(r"([a-z]\w*(?:, [a-z]\w*)*)( \([^)]*\))?: (\S.*)")
_END = re.compile(r"(RETURNS|RAISES|YIELDS)( \([^)]*\))?: ?(.*)")


class ArgumentLists(Extension):
    """Rewrite every docstring before it is shown."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, a class, a function or an attribute."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring whose arguments, returns and errors are items of lists."""
    made: list[str] = []
    inside = False
    for line in text.splitlines():
        argument, end = _ARGUMENT.fullmatch(line), _END.fullmatch(line)
        if argument:
            names = ", ".join(f"`{name}`" for name in argument[1].split(", "))
            line = f"- {names}{argument[2] or ''}: {argument[3]}"
        elif end:
            line = f"- {end[1].capitalize()}{end[2] or ''}: {end[3]}"
        elif inside and line.startswith("    "):
            made.append(f"  {line.strip()}")
            continue
        if argument or end:
            made += [""] if made and made[-1] and not inside else []
        inside = bool(argument or end)
        made.append(line)
    return "\n".join(made)
