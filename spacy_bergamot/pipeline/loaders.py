"""Registered functions for `[initialize]`: where language model and concepts come from.

Each returns a function without a path of its own in the runtime config: what is loaded at
initialisation is carried by the component, and nothing outside it is needed afterwards.
"""

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.lm_folder import place_lm
from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint, write_lm_manifest
from spacy_bergamot.errors import Warnings
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.files import MANIFEST, explained_write_errors

FilesLoader = Callable[[Path], None]
LmLoader = FilesLoader
IndexLoader = Callable[[Path, Path], None]


def language_model(
    path: str,
    pooling: str | None = None,
    max_length: int | None = None,
    *,
    prefix: str | None = None,
) -> LmLoader:
    """Load a Hugging Face folder: put it where the component keeps its files.

    Its files are compared with its manifest; without one there is a warning.

    path (str): The folder.
    pooling (str | None): "cls" or "mean"; None for what the folder says.
    max_length (int | None): Tokens kept of a name; None for what the folder says, else 25.
    prefix (str | None): Written before every name; None for what the folder says.
    RETURNS (LmLoader): Writes it into a folder.
    """

    def load(target: Path) -> None:
        if not (Path(path) / MANIFEST).is_file():
            warnings.warn(Warnings.W110.format(path=path), stacklevel=2)
        with explained_write_errors(target):
            place_lm(Path(path), target, pooling=pooling, max_length=max_length, prefix=prefix)
            write_lm_manifest(target)

    return load


def alias_index(
    concepts: str,
    engine: str = "nmslib",
    settings: dict[str, Any] | None = None,
    device: str = "cpu",
    precision: str = "fp32",
    vectors: str | None = None,
    dtype: str = "float32",
) -> IndexLoader:
    """Build an alias index of a concept table with the component's own language model.

    concepts (str): Folder of the concept table.
    engine (str): Of the search; see `spacy_bergamot.index.engines`.
    settings (dict | None): Of the engine's `build`.
    device (str): torch device of the language model while it encodes the aliases.
    precision (str): "fp32", "bf16", "fp16" or "auto", of its weights then.
    vectors (str | None): Folder that keeps the vectors, so that a killed build goes on.
    dtype (str): Their type on disk, "float32" or "float16".
    RETURNS (IndexLoader): Builds it into a folder, with the language model in another.
    """

    def load(target: Path, lm: Path) -> None:
        encoder = TextEncoder.open(lm, device=device, precision=precision)
        AliasIndex.build(
            target,
            Path(concepts),
            encoder,
            lm_fingerprint=fingerprint(lm),
            engine=engine,
            settings=settings,
            vectors=vectors,
            dtype=dtype,
            progress=True,
        )

    return load


def reranker(path: str) -> FilesLoader:
    """Copy the files of a trained reranker to where the component keeps its own.

    path (str): The folder that training made.
    """

    def load(target: Path) -> None:
        with explained_write_errors(target):
            shutil.copytree(path, target, dirs_exist_ok=True)

    return load


def concept_table(path: str) -> Callable[[], ConceptTable]:
    """Open a concept table.

    path (str): The folder.
    RETURNS (Callable): Opens it.
    """
    return lambda: ConceptTable.open(path)


def finder(path: str) -> Callable[[], Path]:
    """Name the folder of a trained mention finder.

    path (str): The folder.
    RETURNS (Callable): Returns it.
    """
    return lambda: Path(path)


def forget_paths() -> Callable[[Any], Any]:
    """Clear `[paths]` of a pipeline's config, so that no path of this machine is packaged.

    Settings of components that were taken from there, and where a transformer came from, are
    cleared too: they counted at initialisation only.
    """

    def callback(nlp: Any) -> Any:
        paths = nlp.config.get("paths", {})
        known = {f"${{paths.{key}}}" for key in paths} | {path for path in paths.values() if path}
        for name, component in nlp.components:
            _clear(nlp.get_pipe_config(name), known)
            _forget_origin(getattr(component, "model", None), known)
        for key in paths:
            paths[key] = None
        return nlp

    return callback


def _clear(settings: dict[str, Any], values: set[str]) -> None:
    """Empty the strings in a nested dict that are among the values."""
    for key, value in settings.items():
        if isinstance(value, dict):
            _clear(value, values)
        elif isinstance(value, str) and value in values:
            settings[key] = ""


def _forget_origin(model: Any, values: set[str]) -> None:
    """Empty what a thinc model and the transformer in it remember of the folder they came from."""
    for node in model.walk() if hasattr(model, "walk") else ():
        if node.attrs.get("name") in values:
            node.attrs["name"] = ""
            node.transformer.config._name_or_path = ""
