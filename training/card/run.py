"""Gather what is known of a pipeline and write its card."""

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_bergamot import __version__
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.pipeline.pipeline_files import list_files
from spacy_bergamot.storage.files import MANIFEST, NOT_OURS, write_text
from training.card.knowledge import knowledge_facts
from training.card.limits import limits_of, settings_facts
from training.card.meta import complete
from training.card.model import model_facts, training_facts
from training.card.page import LICENCES_MARK, MARK, licences, readme
from training.card.recall import read_recall
from training.card.speed import speed_facts
from training.errors import BergamotError, Errors

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_bergamot.pipeline.linker import BergamotLinker
    from spacy_bergamot.pipeline.parts import LinkerParts

VERSION = 1
README, LICENCES, META = "README.md", "LICENSES_SOURCES", "meta.json"
_NEEDED = ("config.cfg", META)
_SAME = ("concepts.arrow", "aliases.arrow")

logger = logging.getLogger(__name__)


def make_card(
    pipeline: Path,
    *,
    figures: Path | None = None,
    kb: Path | None = None,
    lm: Path | None = None,
    name: str | None = None,
    version: str | None = None,
    speed: bool = True,
) -> dict[str, Any]:
    """Write README.md and LICENSES_SOURCES into a pipeline's folder and complete its meta.json.

    In the end the files are listed for `python -m spacy bergamot check`.

    figures (Path | None): JSON of an evaluation. kb (Path | None): Concept table that says more of
        its sources than the pipeline's own. lm (Path | None): The language model in the folder of
        its training run. One that is missing is left out, and the card says so.
    speed (bool): Time mentions.
    RETURNS (dict): The facts, as in the entry `bergamot` of meta.json.
    RAISES (BergamotError): T501 if the folder is no pipeline, B047 if it has no linker, T502 for
        a language model or knowledge base of another pipeline, B002 for a file without figures,
        T504 for a name or version that spaCy refuses, B046 if spaCy cannot load it, B101 for a
        README.md or LICENSES_SOURCES of another hand.
    """
    from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline

    meta = read_meta(pipeline)
    for file, mark in ((README, MARK), (LICENCES, LICENCES_MARK)):
        path = pipeline / file
        if path.is_file() and not path.read_text("utf8", "replace").startswith(mark):
            raise BergamotError(Errors.B101, path=path, reason=NOT_OURS)
    nlp = load_pipeline(str(pipeline))
    linker, _ = linker_of(nlp)
    facts = gather(pipeline, nlp, linker, figures=_there(figures), kb=_there(kb), lm=_there(lm))
    facts["speed"] = speed_facts(nlp, linker) if speed else {}
    made_by = nlp.pipe_factories.values()
    completed = complete(meta, facts, name=name, version=version, factories=made_by, path=pipeline)
    write_text(pipeline / README, readme(completed, facts))
    write_text(pipeline / LICENCES, licences(facts))
    write_text(pipeline / META, json.dumps(completed, ensure_ascii=False, indent=2) + "\n")
    list_files(pipeline)
    return facts


def gather(
    pipeline: Path,
    nlp: "Language",
    linker: "BergamotLinker",
    *,
    figures: Path | None,
    kb: Path | None,
    lm: Path | None,
) -> dict[str, Any]:
    """Return everything that a card says but the speed; see `make_card`."""
    parts = linker.parts
    model = model_facts(parts.bundles["encoder"].path, parts.encoder)
    if lm is not None:
        model |= training_facts(lm, expected=model["fingerprint"], pipeline=pipeline)
    knowledge = knowledge_facts(parts, _release(parts, kb, pipeline))
    recall = _recall(figures, lm=model["fingerprint"], index=parts.index.fingerprint)
    measured = set(recall.get("groups", {}))
    return {
        "format": VERSION,
        "written_by": f"spacy_bergamot {__version__}",
        "knowledge_base": knowledge,
        "recall": recall,
        "calibration": _calibration(parts),
        "language_model": model,
        "index": _index(parts),
        "size": _sizes(pipeline, parts),
        "linking": settings_facts(linker.settings),
        "limits": limits_of(
            nlp, linker.settings, languages=knowledge["languages"], measured=measured
        ),
        "example": parts.index.table.name(0),
    }


def read_meta(pipeline: Path) -> dict[str, Any]:
    """Read a pipeline's meta.json. RAISES (BergamotError): T501 if the folder is no pipeline."""
    missing = [name for name in _NEEDED if not (pipeline / name).is_file()]
    if not pipeline.is_dir():
        missing = ["the folder"]
    if missing:
        raise BergamotError(Errors.T501, path=pipeline, missing=", ".join(missing))
    try:
        meta = json.loads((pipeline / META).read_text(encoding="utf8"))
        if isinstance(meta, dict):
            return meta
        reason = "it is no object"
    except ValueError as error:
        reason = str(error)
    raise BergamotError(Errors.T501, path=pipeline, missing=f"a readable {META}, {reason},")


def _there(path: Path | None) -> Path | None:
    if path is None or path.exists():
        return path
    logger.warning("%s is missing; the card goes without it and says so", path)
    return None


def _release(parts: "LinkerParts", kb: Path | None, pipeline: Path) -> list[dict[str, str]]:
    """Return what a manifest says of the sources: that of `kb` if it is the same table."""
    own = parts.index.table.manifest
    if kb is None:
        return list(own.get("release", []))
    given = ConceptTable.open(kb, checksums=False).manifest
    if any(given["files"][f]["sha256"] != own["files"][f]["sha256"] for f in _SAME):
        raise BergamotError(Errors.T502, path=kb, what="concept table", pipeline=pipeline)
    return list(given.get("release", []))


def _recall(figures: Path | None, *, lm: str, index: str) -> dict[str, Any]:
    if figures is None:
        return {"reason": "no figures of an evaluation were given"}
    reason = f"{figures.name} has figures of other language models and pipelines"
    found = read_recall(figures, lm=lm, index=index)
    if not found:
        logger.warning("%s; the card goes without them and says so", reason)
    return found or {"reason": reason}


def _calibration(parts: "LinkerParts") -> dict[str, Any] | None:
    if parts.calibration is None:
        return None
    keys = ("mentions", "linked", "accuracy", "ece_of_scores", "ece", "brier", "thresholds", "best")
    report = parts.calibration.report
    return {key: report[key] for key in keys if key in report}


def _index(parts: "LinkerParts") -> dict[str, Any]:
    manifest = parts.index.manifest
    return {
        "fingerprint": parts.index.fingerprint,
        "engine": manifest["engine"],
        "settings": manifest["settings"],
        "vectors": manifest["vectors"],
        "width": manifest["dim"],
    }


def _sizes(pipeline: Path, parts: "LinkerParts") -> dict[str, int]:
    """Return bytes on disk of the language model, of the index, and of all but the card."""
    own = sum(_size(pipeline / file) for file in (README, LICENCES, META, MANIFEST))
    return {
        "language_model": _size(parts.bundles["encoder"].path),
        "index": _size(parts.bundles["index"].path),
        "whole": _size(pipeline) - own,
    }


def _size(path: Path) -> int:
    files = [path, *path.rglob("*")]
    return sum(file.stat().st_size for file in files if file.is_file())
