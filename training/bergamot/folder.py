"""What a run keeps in its folder and reads again when it is resumed: all of it with checksums."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.lm_folder import (
    LM_FIELDS,
    LM_KIND,
    LM_VERSION,
    verify_files,
)
from spacy_bergamot.encoder.text_encoder import EncoderSettings, write_lm_manifest
from spacy_bergamot.storage.files import MANIFEST, atomic_folder, sha256
from spacy_bergamot.storage.manifest import read_manifest
from training.bergamot.token_store import TokenStore
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet

TOKENS = "tokens"
_BASE: Any = {
    "kind": LM_KIND,
    "version": LM_VERSION,
    "fields": {**LM_FIELDS, "config": str},
}


def prepare_base(
    prepare: Any, data: TrainingSet, output: Path, identity: str, *, seed: int
) -> None:
    """Put the base LM at output/base, once a run; a run that is resumed finds it there, unchanged.

    RAISES (BergamotError): T207 if it is of a run under another config; B001 to B006, B110 to B112
        if it is not as it was made.
    """
    base = output / "base"
    if (base / MANIFEST).is_file():
        verify_files(base)
        if read_manifest(base, **_BASE, checksums=False)["config"] != identity:
            raise BergamotError(Errors.T207, path=output)
        return
    shutil.rmtree(base, ignore_errors=True)
    with atomic_folder(base) as folder:
        prepare(folder, data.names, seed)
        write_lm_manifest(folder, config=identity)


def make_tokens(data: TrainingSet, output: Path) -> None:
    """Tokenise the names, unless their tokens are there as they were made."""
    base = output / "base"
    TokenStore.open_or_build(
        output / TOKENS,
        data.names,
        lm=base,
        settings=EncoderSettings.read(base),
        names_id=sha256(data.path / "manifest.json"),
    )


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder. RAISES (BergamotError): T214 if another run holds it."""
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BergamotError(Errors.T214, path=folder) from None
        # Workers that outlive a killed run for seconds would hold the lock that they inherit.
        os.register_at_fork(after_in_child=stream.close)
        yield
