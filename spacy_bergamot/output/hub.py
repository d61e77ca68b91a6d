"""A packaged pipeline as a repository of the Hugging Face hub."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import srsly
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from spacy_bergamot.errors import BergamotError, Errors, importing
from spacy_bergamot.languages import LANGUAGES, iso
from spacy_bergamot.pipeline.pipeline_files import changed_files, list_files
from spacy_bergamot.storage.files import MANIFEST, atomic_folder

_LICENCES = {"mit", "apache-2.0", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-4.0"}
_SHORT = {code: iso(code) for code in LANGUAGES.values()}


def write_repository(package: Path, repo: str, output: Path) -> dict[str, Any]:
    """Write what a repository is to hold: the pipeline's files, its wheel, the model card.

    The files are those that `spacy.load` opens; the wheel keeps the version in its name, without
    which pip refuses it.

    package (Path): Folder that `spacy package` wrote, with the wheel in dist/.
    repo (str): Name on the hub, USER/NAME.
    output (Path): New folder.
    RETURNS (dict): The package's meta.json.
    RAISES (BergamotError): B220 if the folder is none of a package, B221 if it has no wheel of this
        version, B222 for the name of the repository, B006 or B112 if a file is not as the
        pipeline's list says, else as `atomic_folder`.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise BergamotError(Errors.B222, repo=repo)
    meta, pipeline = _opened(package)
    wheel = _wheel(package, meta)
    with atomic_folder(output) as folder:
        shutil.copytree(pipeline, folder, dirs_exist_ok=True)
        shutil.copy(wheel, folder)
        card = (package / "README.md").read_text(encoding="utf8")
        text = model_card(meta, card, repo=repo, wheel=wheel.name)
        (folder / "README.md").write_text(text, encoding="utf8")
        list_files(folder)
    return meta


def model_card(meta: Mapping[str, Any], card: str, *, repo: str, wheel: str) -> str:
    """Return the README.md of a repository: what the hub reads, the card, how to install.

    meta (Mapping[str, Any]): Of the package. card (str): Its README.md.
    repo (str): Name on the hub. wheel (str): Name of the wheel's file.
    """
    known = meta.get("bergamot", {}).get("knowledge_base", {}).get("languages", {})
    languages = [_SHORT[code] for code in known if code in _SHORT]
    head = {
        "library_name": "spacy",
        "tags": ["spacy", "entity-linking", "biomedical"],
        "language": languages or ["multilingual" if meta["lang"] == "xx" else meta["lang"]],
        **_licence(str(meta.get("license") or "not said")),
    }
    address = f"https://huggingface.co/{repo}/resolve/{tag_of(meta)}/{wheel}"
    install = f"## Install\n\n```\npip install {address}\n```\n"
    return f"---\n{srsly.yaml_dumps(head).strip()}\n---\n\n{card.strip()}\n\n{install}"


def _licence(name: str) -> dict[str, str]:
    """Return a licence as the hub's list has it; there, several together are another one."""
    short = name.lower().replace(" ", "-")
    return {"license": short} if short in _LICENCES else {"license": "other", "license_name": name}


def tag_of(meta: Mapping[str, Any]) -> str:
    """Return the tag of a package's version, such as v0.1.0.

    meta (Mapping[str, Any]): Of the package.
    """
    return f"v{meta['version']}"


def upload(folder: Path, repo: str, *, tag: str, public: bool) -> str:
    """Upload a folder as the whole of a repository, tag it, and return its address.

    What the repository had and the folder has not is removed from it; a tag keeps each version.

    folder (Path): What `write_repository` wrote. repo (str): Name on the hub, made if it is new.
    tag (str): Of this version. public (bool): Whether a new repository is for everyone to read.
    RAISES (BergamotError): B109 without huggingface_hub, B223 if the hub refuses.
    """
    with importing("Publishing", packages='"spacy_bergamot[hub]"'):
        from huggingface_hub import HfApi
    hub = HfApi()
    try:
        address = hub.create_repo(repo, private=not public, exist_ok=True)
        hub.upload_folder(folder_path=folder, repo_id=repo, commit_message=tag, delete_patterns="*")
        hub.create_tag(repo, tag=tag, exist_ok=True)
    except (OSError, ValueError) as reason:  # of requests, and the hub's own
        line = str(reason).strip().partition("\n")[0]
        raise BergamotError(Errors.B223, repo=repo, reason=line) from None
    return str(address)


def _opened(package: Path) -> tuple[dict[str, Any], Path]:
    """Return a package's meta.json, and the folder of its pipeline."""
    try:
        meta: dict[str, Any] = srsly.read_json(package / "meta.json")
        name = f"{meta['lang']}_{meta['name']}"
        pipeline = package / name / f"{name}-{meta['version']}"
        if not (pipeline / "config.cfg").is_file():
            raise FileNotFoundError(f"{pipeline / 'config.cfg'} is missing")
        # What is damaged must not get a new list of files that says that all is well.
        changed = changed_files(pipeline) if (pipeline / MANIFEST).is_file() else []
    except KeyError as reason:
        raise BergamotError(Errors.B220, path=package, reason=f"no {reason}") from None
    except (OSError, ValueError, TypeError) as reason:
        raise BergamotError(Errors.B220, path=package, reason=reason) from None
    if changed:
        raise BergamotError(changed[0])
    return meta, pipeline


def _wheel(package: Path, meta: Mapping[str, Any]) -> Path:
    """Return the wheel of the package's own version."""
    name = canonicalize_name(f"{meta['lang']}_{meta['name']}")
    wheels = sorted((package / "dist").glob("*.whl"))
    for path in wheels:
        try:
            found, version, *_ = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        if (found, version) == (name, Version(str(meta["version"]))):
            return path
    raise BergamotError(
        Errors.B221, path=package / "dist", package=name, version=meta["version"],
        found=", ".join(path.name for path in wheels) or "none",
    )  # fmt: skip
