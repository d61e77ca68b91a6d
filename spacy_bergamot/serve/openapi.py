"""The description of the routes: python -m spacy_bergamot.serve.openapi docs/openapi.json."""

import json
import sys
from pathlib import Path

from spacy_bergamot.serve.app import make_routes


def described() -> str:
    """Return the routes in OpenAPI, as JSON."""
    return json.dumps(make_routes().openapi(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(described(), encoding="utf8")
