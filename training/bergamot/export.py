"""Export of the trained text encoder as a Hugging Face folder."""

import shutil
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.text_encoder import EncoderSettings, write_lm_manifest
from spacy_bergamot.storage.files import MANIFEST, atomic_folder

_MADE_BY_MODEL = {"config.json", MANIFEST, "bergamot.json"}


def export_lm(path: Path, lm: Any, base: Path, settings: EncoderSettings) -> str:
    """Write model (safetensors), tokenizer and encoder settings, whole or not at all.

    lm (PreTrainedModel): The trained encoder.
    base (Path): The folder whose tokenizer files are copied as they are.
    RETURNS (str): The LM's fingerprint.
    """
    with atomic_folder(path) as folder:
        lm.save_pretrained(folder, safe_serialization=True)
        for file in sorted(base.iterdir()):
            if file.suffix != ".safetensors" and file.name not in _MADE_BY_MODEL:
                shutil.copyfile(file, folder / file.name)
        settings.write(folder)
        return write_lm_manifest(folder)
