"""`python -m website [reference|pictures|screenshots|examples]`: what follows from the code."""

import sys
from pathlib import Path

from website.examples import example_pages
from website.pictures import PICTURES
from website.reference import PAGES
from website.screenshots import Missing, screenshots

DOCS = Path(__file__).parents[1] / "docs"


def main(wanted: list[str]) -> None:
    """Write the pages and pictures of the parts that are wanted: the first two if none is named.

    Screenshots and examples need the package xx_bergamot_sample, which `make run` makes; a
    screenshot also needs a browser, see docs/site.md.
    """
    parts = wanted or ["reference", "pictures"]
    made: dict[str, str | bytes] = {}
    if "reference" in parts:
        made |= {name: make() for name, make in PAGES.items()}
    if "pictures" in parts:
        made |= {name: make() for name, make in PICTURES.items()}
    if "screenshots" in parts:
        try:
            made |= screenshots()
        except Missing as reason:
            sys.exit(f"No screenshot was taken: {reason}")
    if "examples" in parts:
        made |= example_pages()
    for name, what in made.items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(what.encode("utf8") if isinstance(what, str) else what)
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
