"""Texts and pages from templates.

A template that ends in .html extends `base.html`: a page that fetches nothing and runs nothing, on
light and dark screens. What is put into it is escaped; one in Markdown has the filter `plain`.
"""

import re
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape


@cache
def templates(*packages: str) -> Environment:
    """Return the templates of packages, which may extend and include one another.

    packages (str): Packages with a folder `templates`; those of this one are always among them.
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, __package__)]),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["plain"] = plain
    return made


def plain(text: str) -> str:
    """Return text, on one line, that Markdown and a cell of its tables leave as it is."""
    return " ".join(re.sub(r"([\\`*_\[\]<>|#~&$])", r"\\\1", text).split())
