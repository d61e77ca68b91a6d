"""Hugging Face folders: what they must hold, and how they are opened. No code of theirs is run."""

import importlib.util
import logging
import os
import shutil
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.settings import EncoderSettings, read_json
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.files import MANIFEST
from spacy_bergamot.storage.manifest import listed, read_manifest

LM_KIND = "language-model"
LM_VERSION = 1
LM_FIELDS = {"fingerprint": str}

_NEEDED = ("config.json", "tokenizer.json")
_WEIGHTS = "model*.safetensors"
_READ = (".json", ".safetensors")
_HUB_FILES = ["*.json", "*.txt", "*.model", _WEIGHTS]
_KEPT = (".json", ".safetensors", ".txt", ".model")
_CONFIGS = ("config.json", "tokenizer_config.json")
_SENTENCEPIECE = {"sentencepiece": "sentencepiece", "google.protobuf": "protobuf"}

logger = logging.getLogger(__name__)


def check_folder(folder: Path) -> None:
    """Raise unless the files of a language model are there, and it needs no code of its own.

    transformers would take a missing folder for the name of a model on the hub.
    """
    missing = missing_files(Path(folder))
    if missing:
        raise BergamotError(Errors.B010, path=folder, missing=", ".join(missing))
    check_no_code(Path(folder))


def verify_files(folder: Path) -> None:
    """Compare a language model's files with its manifest, where it has one.

    folder (Path): The language model.
    RAISES (BergamotError): B001 to B006 and B110 as `read_manifest`, B112 for a file of those
        that decide vectors which the manifest does not list.
    """
    if not os.path.lexists(folder / MANIFEST):
        return
    manifest = read_manifest(folder, kind=LM_KIND, version=LM_VERSION, fields=LM_FIELDS)
    for name in listed(folder):
        if name not in manifest["files"] and name.endswith(_READ):
            raise BergamotError(Errors.B112, path=folder / name)


def missing_files(folder: Path) -> list[str]:
    """Return the files that a language model needs and this folder lacks."""
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    return missing if any(folder.glob(_WEIGHTS)) else [*missing, "model.safetensors"]


def check_no_code(folder: Path) -> None:
    """Raise B083 if a folder wants Python code to be run that comes with it."""
    for path in (folder / name for name in _CONFIGS):
        if path.is_file() and (named := read_json(path, "a Hugging Face config").get("auto_map")):
            raise BergamotError(Errors.B083, path=path, named=named)


def open_model(folder: Path, **options: Any) -> Any:
    """Open a folder's weights in an architecture that transformers has.

    options (Any): More for `AutoModel.from_pretrained`.
    RETURNS (PreTrainedModel): The model; a pooler that the folder has not is zero, not random.
    RAISES (BergamotError): B002 if they cannot be read, B084 if some are missing: transformers
        would put random numbers in their place.
    """
    from transformers import AutoModel

    try:
        model, report = AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            **options,
        )
    except Exception as reason:
        raise BergamotError(
            Errors.B002, path=folder, what="a language model", reason=reason
        ) from reason
    missing = sorted(report["missing_keys"])
    poolers = [name for name in missing if "pooler" in name]
    if len(missing) > len(poolers):
        first = next(name for name in missing if name not in poolers)
        facts = {"path": folder, "family": type(model).__name__, "first": first}
        raise BergamotError(Errors.B084, count=len(missing) - len(poolers), **facts)
    for name in poolers:  # many checkpoints have none, and nothing here uses it
        model.get_parameter(name).data.zero_()
    return model


def find_lm(name: str | Path) -> Path:
    """Return the folder of a language model; one that is not here is fetched from the hub.

    name (str | Path): Folder, or name on the hub, whose files are kept in the hub's cache.
    RAISES (BergamotError): B104 if it is neither here nor there.
    """
    if Path(name).exists():
        return Path(name)
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(str(name), allow_patterns=_HUB_FILES))
        if not any(folder.glob(_WEIGHTS)):
            folder = Path(snapshot_download(str(name), allow_patterns=["pytorch_model*.bin"]))
    except Exception as reason:
        raise BergamotError(Errors.B104, name=name, reason=reason) from reason
    return folder


def place_lm(
    source: Path,
    target: Path,
    *,
    anew: bool = False,
    pooling: str | None = None,
    max_length: int | None = None,
    lowercase: bool | None = None,
    prefix: str | None = None,
) -> EncoderSettings:
    """Put a language model at `target`, as safetensors and tokenizer.json, with its settings.

    source (Path): A Hugging Face folder. Its weights are safetensors, or a .bin that is read
        without running what is pickled in it; its tokenizer any that transformers can make a fast
        one of.
    anew (bool): Convert also what could be copied as it is.
    pooling, max_length, lowercase, prefix: See `EncoderSettings`; None for what the folder says.
    RETURNS (EncoderSettings): The settings.
    RAISES (BergamotError): B010 without config.json, B083 if it needs code of its own, B109 if
        packages are missing for its tokenizer, else as `verify_files`, `EncoderSettings.read` and
        `open_model`.
    """
    if not (source / "config.json").is_file():
        raise BergamotError(Errors.B010, path=source, missing=", ".join(missing_files(source)))
    check_no_code(source)
    verify_files(source)
    settings = EncoderSettings.read(
        source, pooling=pooling, max_length=max_length, lowercase=lowercase, prefix=prefix
    )
    if anew or missing_files(source):
        tokenizer = _fast_tokenizer(source)
        open_model(source).float().save_pretrained(target, safe_serialization=True)
        tokenizer.save_pretrained(target)
    else:
        shutil.copytree(source, target, ignore=_unneeded, dirs_exist_ok=True)
    settings.write(target)
    return settings


def _fast_tokenizer(source: Path) -> Any:
    """Open a folder's tokenizer; what SentencePiece made is turned into a fast one."""
    from transformers import AutoTokenizer

    if not (source / "tokenizer.json").is_file() and any(source.glob("*.model")):
        missing = [name for module, name in _SENTENCEPIECE.items() if not _is_installed(module)]
        if missing:
            step = f"Converting the SentencePiece model of {source} into tokenizer.json"
            raise BergamotError(
                Errors.B109, step=step, reason=", ".join(missing), packages=" ".join(missing)
            )
        logger.info("Turning the SentencePiece model of %s into tokenizer.json", source)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source, local_files_only=True, trust_remote_code=False, use_fast=True
        )
    except Exception as reason:
        raise BergamotError(Errors.B002, path=source, what="a tokenizer", reason=reason) from reason
    if not tokenizer.is_fast:
        none = f"transformers has no fast tokenizer for {type(tokenizer).__name__}"
        raise BergamotError(Errors.B002, path=source, what="a tokenizer", reason=none)
    return tokenizer


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def _unneeded(folder: str, names: list[str]) -> set[str]:
    """Return what is not copied: other libraries' weights, code, folders."""
    return {name for name in names if name == MANIFEST or Path(name).suffix not in _KEPT}
