"""The list of all files of a packaged pipeline, spaCy's own too, with sizes and checksums.

It is the manifest.json at the top of the pipeline's folder, made when the pipeline is whole.
"""

import hashlib
import json
from pathlib import Path

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.files import MANIFEST
from spacy_bergamot.storage.manifest import differences, write_manifest

KIND = "pipeline"
VERSION = 1
_BY_OTHERS = ("README.md", ".gitattributes")
"""What `spacy package` adds to a pipeline that has none, and the Hugging Face hub to any."""


_META = "meta.json"


def list_files(folder: Path) -> None:
    """Write the list of a pipeline's files as they are now.

    folder (Path): Of the pipeline.
    """
    write_manifest(folder, kind=KIND, version=VERSION, meta=_meaning(folder / _META))


def changed_files(folder: Path) -> list[str]:
    """Return what is wrong with every file that is not as the list says.

    folder (Path): Of the pipeline.
    RAISES (BergamotError): B113 if there is no list, else as `read_manifest` if it is no good.
    """
    if not (folder / MANIFEST).is_file():
        raise BergamotError(Errors.B113, path=folder)
    added = {Errors.B112.format(path=folder / name) for name in _BY_OTHERS}
    found = differences(folder, kind=KIND, version=VERSION)
    listed = json.loads((folder / MANIFEST).read_text(encoding="utf8")).get("meta")
    if listed and listed == _meaning(folder / _META):
        found = [problem for problem in found if str(folder / _META) not in problem]
    return [problem for problem in found if problem not in added]


def _meaning(path: Path) -> str:
    """Return a checksum of what a meta.json says; "" if it is none.

    `spacy package` writes it anew, with requirements and without the mode of the vectors.
    """
    try:
        meta = json.loads(path.read_text(encoding="utf8"))
        meta.pop("requirements", None)
        meta.get("vectors", {}).pop("mode", None)
    except (OSError, ValueError, AttributeError, TypeError):
        return ""
    return hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()
