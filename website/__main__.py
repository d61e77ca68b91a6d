"""`python -m website [reference|pictures|examples]`: make pages that follow from the code."""

import sys
from pathlib import Path

from website.examples import example_pages
from website.pictures import PICTURES
from website.reference import PAGES

DOCS = Path(__file__).parents[1] / "docs"


def main(wanted: list[str]) -> None:
    """Write the pages of the parts that are wanted; all but examples where none is named.

    The examples need the package xx_bergamot_sample, which `make run` makes.
    """
    parts = wanted or ["reference", "pictures"]
    pages: dict[str, str] = {}
    if "reference" in parts:
        pages |= {name: make() for name, make in PAGES.items()}
    if "pictures" in parts:
        pages |= {name: make() for name, make in PICTURES.items()}
    if "examples" in parts:
        pages |= example_pages()
    for name, text in pages.items():
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(text, encoding="utf8")
        print(DOCS / name)


if __name__ == "__main__":
    main(sys.argv[1:])
