"""Pipelines by name: an installed package or a folder."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_bergamot.errors import BergamotError, Errors

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_bergamot.pipeline.linker import BergamotLinker

FACTORY = "bergamot_linker"


def pipeline_folder(name: str) -> Path:
    """Return the folder of a pipeline, whatever is in it.

    name (str): Installed package or folder.
    RAISES (BergamotError): B046 if there is none of that name.
    """
    import spacy

    if spacy.util.is_package(name):
        package = spacy.util.get_package_path(name)
        meta = spacy.util.get_model_meta(package)
        return package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    if not Path(name).is_dir():
        reason = "it is no installed package, and no folder"
        raise BergamotError(Errors.B046, name=name, reason=reason)
    return Path(name)


def find_pipeline(name: str) -> Path:
    """Return the folder of a pipeline, without loading it.

    name (str): Installed package or folder.
    RAISES (BergamotError): B046 if there is none of that name, or one without a config.
    """
    folder = pipeline_folder(name)
    if not (folder / "config.cfg").is_file():
        reason = "the folder has no config.cfg"
        raise BergamotError(Errors.B046, name=name, reason=reason)
    return folder


def import_code(path: Path | None) -> None:
    """Run a Python file of the user's that registers components, as spaCy's --code does.

    path (Path | None): The file; None runs nothing.
    RAISES (BergamotError): B119 if that fails.
    """
    import spacy

    if path is not None:
        try:
            spacy.util.import_file("python_code", path)
        except Exception as reason:  # whatever the user's code raises
            raise BergamotError(
                Errors.B119, path=path, reason=f"{type(reason).__name__}: {reason}"
            ) from None


def load_pipeline(name: str, *, device: str | None = None, k: int | None = None) -> "Language":
    """Load a pipeline.

    name (str): Installed package or folder.
    device (str | None): Of its language models; None for what the config says.
    k (int | None): Candidates of a mention; None for what the config says.
    RAISES (BergamotError): B046 if there is none of that name, or its files cannot be read; B120
        for a component that nothing here has registered.
    """
    import spacy

    folder = find_pipeline(name)
    by_factory: dict[str, dict[str, Any]] = {
        FACTORY: {"device": device, "k": k},
        "bergamot_finder": {"device": device},
    }
    settings: dict[str, Any] = {}
    if device is not None or k is not None:
        components: dict[str, Any] = spacy.util.load_config(folder / "config.cfg")["components"]
        for key, of in components.items():
            given = by_factory.get(of.get("factory"), {})
            settings[key] = {one: value for one, value in given.items() if value is not None}
    try:
        return spacy.load(name, config={"components": settings})
    except BergamotError:
        raise
    except Exception as reason:  # spaCy, msgpack and configparser, whatever breaks first
        said = str(reason) or repr(reason)
        if "[E002]" in said:  # no such factory
            said = said.partition(" This usually")[0]
            raise BergamotError(Errors.B120, name=name, reason=said) from None
        raise BergamotError(Errors.B046, name=name, reason=said) from None


def memory_zone(nlp: "Language") -> AbstractContextManager[Any]:
    """Return spaCy's memory zone, which gives back what new words take; since spaCy 3.8.

    nlp (Language): The pipeline.
    """
    return nlp.memory_zone() if hasattr(nlp, "memory_zone") else nullcontext()


def linker_of(nlp: "Language") -> "tuple[BergamotLinker, str]":
    """Return a pipeline's linker and its name.

    nlp (Language): The pipeline.
    RAISES (BergamotError): B047 without one.
    """
    from spacy_bergamot.pipeline.linker import BergamotLinker

    for name, component in nlp.pipeline:
        if isinstance(component, BergamotLinker):
            return component, name
    raise BergamotError(Errors.B047, component=FACTORY, components=", ".join(nlp.pipe_names))
