"""A pipeline for the next release of its knowledge base: only what is new is encoded."""

import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import spacy
from confection import Config

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.mentions.dictionary import MentionKeys
from spacy_bergamot.pipeline.parts import CALIBRATION, CHANGES, ENCODER, INDEX, RERANKER
from spacy_bergamot.pipeline.pipeline_files import list_files
from spacy_bergamot.pipeline.pipelines import FACTORY, linker_of, load_pipeline
from spacy_bergamot.storage.files import MANIFEST, atomic_folder
from spacy_bergamot.storage.manifest import differences as changed
from spacy_bergamot.storage.scratch import Scratch
from training.card.meta import ENTRY
from training.card.page import LICENCES_MARK, MARK
from training.card.run import LICENCES, META, README
from training.errors import BergamotError, Errors
from training.reuse import ReusingEncoder
from training.upgrade.carry import CARRIED, REFUSED, Fate, carried_changes, refusal, tie_to
from training.upgrade.difference import Difference, differences
from training.upgrade.release import mrcui_of, release_table

_MENTIONS = "bergamot_mentions"
_TIED = (FACTORY, "bergamot_entity_linker")
_LEARNED = "learned on the old release; fit it anew when gold mentions are at hand"


@dataclass(frozen=True)
class Old:
    """The pipeline that is there.

    folder (Path), config (Config): Of the pipeline.
    name (str): Of its linker.
    index (AliasIndex), changes (Changes | None): Of the linker.
    """

    folder: Path
    config: Config
    name: str
    index: AliasIndex
    changes: Changes | None

    @property
    def linker(self) -> Path:
        """Folder of the linker."""
        return self.folder / self.name

    @property
    def precision(self) -> str:
        """Of the language model while it encoded, as far as the config says it."""
        made = self.config.get("initialize", {}).get("components", {}).get(self.name, {})
        found = (made.get("index") or {}).get("precision")
        return found if isinstance(found, str) and not found.startswith("$") else "fp32"


def upgrade(
    pipeline: Path, release: Path, output: Path, *, device: str = "cpu", vectors: Path | None = None
) -> dict[str, Any]:
    """Write a pipeline that links to another release; return what differs and what became of it.

    The knowledge base is filtered as that of the old pipeline was.

    pipeline (Path): Folder of the old pipeline.
    release (Path): RRF folder or archive, ontologies, or a concept table.
    output (Path): Folder of the new pipeline.
    device (str): torch device that encodes the new names.
    vectors (Path | None): Folder that keeps the vectors, to go on after an interruption.
    RAISES (BergamotError): T316 for an old pipeline whose files changed, T317 for one that cannot
        be upgraded, B031 for a language model that its index was not built with; as `differences`,
        and as reading the release does.
    """
    start = time.perf_counter()
    old = open_old(pipeline)
    output.parent.mkdir(parents=True, exist_ok=True)
    with Scratch(output.parent, prefix=".upgrade") as scratch:
        before = old.index.table
        table = ConceptTable.open(release_table(release, before, scratch / "kb"))
        mrcui = mrcui_of(release, scratch)
        found = differences(before, table, mrcui=mrcui, name=str(release))
        with atomic_folder(output) as made:
            facts = _write(old, table, made, found, device=device, vectors=vectors)
    return {
        "pipeline": str(pipeline),
        "release": str(release),
        "mrcui": mrcui is not None,
        "sources": {"before": _sources(before), "now": facts.pop("sources")},
        **found.to_dict(),
        **facts,
        "seconds": round(time.perf_counter() - start, 1),
    }


def open_old(folder: Path) -> Old:
    """Open what there is of a pipeline, and compare every file with its checksum.

    RAISES (BergamotError): As `upgrade`.
    """
    config = spacy.util.load_config(folder / "config.cfg", interpolate=False)
    components: dict[str, Any] = config["components"]
    tied = [name for name, of in components.items() if of.get("factory") in _TIED]
    if len(tied) != 1 or components[tied[0]]["factory"] != FACTORY:
        raise BergamotError(Errors.T317, path=folder, pipes=", ".join(tied) or "none")
    parts = [path.parent for name in components for path in (folder / name).glob(f"**/{MANIFEST}")]
    outer = [path for path in parts if not any(other in path.parents for other in parts)]
    if problems := [problem for part in outer for problem in changed(part)]:
        raise BergamotError(Errors.T316, path=folder, problems="\n".join(problems))
    linker = folder / tied[0]
    index = AliasIndex.open(linker / INDEX, checksums=False)
    expected, made_with = fingerprint(linker / ENCODER), index.manifest["lm_fingerprint"]
    if made_with != expected:
        short = {"found": made_with[:12], "expected": expected[:12]}
        raise BergamotError(Errors.B031, name=tied[0], **short)
    changes = None
    if (linker / CHANGES).is_dir():
        changes = Changes.open(linker / CHANGES, index, checksums=False)
    return Old(folder, config, tied[0], index, changes)


def _write(
    old: Old,
    table: ConceptTable,
    made: Path,
    found: Difference,
    *,
    device: str,
    vectors: Path | None,
) -> dict[str, Any]:
    """Write the new pipeline into a folder; return what became of the parts of the old one."""
    dictionaries = _dictionaries(old)
    left_out = {old.linker, *(old.folder / name for name in dictionaries)}
    shutil.copytree(
        old.folder,
        made,
        dirs_exist_ok=True,
        ignore=lambda folder, names: [n for n in names if Path(folder, n) in left_out],
    )
    linker = made / old.name
    index = _build_index(old, table, linker, device=device, vectors=vectors)
    known = int(pc.sum(pc.is_in(index.strings, value_set=old.index.strings)).as_py() or 0)
    names = {"names": len(index), "kept": known, "encoded": len(index) - known}
    for name in dictionaries:
        MentionKeys.write(made / name, index.table)
    fates = _carry_learned(old, index, linker, new_share=names["encoded"] / len(index))
    fates += _without_card(made)
    _config(old, fates).to_disk(made / "config.cfg")
    nlp = load_pipeline(str(made))
    changes: list[Fate] = []
    if old.changes is not None:
        before = old.index.table
        kept, changes = carried_changes(
            old.changes.entries, before, index.table, successors=found.successors
        )
        if kept:
            linker_of(nlp)[0].update_index(kept)
            nlp.to_disk(made)
    list_files(made)
    return {
        "names": names,
        "parts": [asdict(fate) for fate in fates],
        "changes": [asdict(fate) for fate in changes],
        "sources": _sources(index.table),
    }


def _build_index(
    old: Old, table: ConceptTable, linker: Path, *, device: str, vectors: Path | None
) -> AliasIndex:
    """Write language model and index into the folder of the new linker; return the index."""
    shutil.copytree(old.linker / ENCODER, linker / ENCODER)
    encoder = TextEncoder.open(
        linker / ENCODER, device=device, precision=old.precision, verify=False
    )
    AliasIndex.build(
        linker / INDEX,
        table.path,
        ReusingEncoder(encoder, old.index),
        lm_fingerprint=old.index.manifest["lm_fingerprint"],
        engine=old.index.manifest["engine"],
        settings=old.index.manifest["settings"],
        vectors=vectors,
        before=old.index,
        progress=True,
    )
    return AliasIndex.open(linker / INDEX, checksums=False)


def _dictionaries(old: Old) -> list[str]:
    """Return the names of the components that mark the names of the old knowledge base."""
    components: dict[str, Any] = old.config["components"]
    named = [name for name, of in components.items() if of.get("factory") == _MENTIONS]
    table = old.index.table.fingerprint
    return [n for n in named if MentionKeys(old.folder / n, checksums=False).table == table]


def _carry_learned(old: Old, index: AliasIndex, linker: Path, *, new_share: float) -> list[Fate]:
    """Take a learned reranker and a calibration over to an index, if few of its names are new."""
    fates: list[Fate] = []
    why = refusal(new_share=new_share)
    for part in (RERANKER, CALIBRATION):
        if (old.linker / part).is_dir():
            became = REFUSED if why else CARRIED
            if not why:
                tie_to(index.fingerprint, old.linker / part, linker / part)
            fates.append(Fate(part, became, why or _LEARNED))
    return fates


def _config(old: Old, fates: list[Fate]) -> Config:
    """Return the config without the settings that need what was refused."""
    refused = {fate.what for fate in fates if fate.became == REFUSED}
    settings: dict[str, Any] = old.config["components"][old.name]
    if RERANKER in refused:
        settings["rerank"] = None
    if CALIBRATION in refused:
        settings["min_probability"] = None
    return old.config


def _without_card(made: Path) -> list[Fate]:
    """Remove the model card, whose figures are those of the old release."""
    meta = json.loads((made / META).read_text(encoding="utf8"))
    if meta.pop(ENTRY, None) is None:
        return []
    for file, mark in ((README, MARK), (LICENCES, LICENCES_MARK)):
        path = made / file
        if path.is_file() and path.read_text(encoding="utf8").startswith(mark):
            path.unlink()
    (made / META).write_text(json.dumps(meta, indent=2, ensure_ascii=False), encoding="utf8")
    return [Fate("model card", REFUSED, "its figures are the old release's: write it again")]


def _sources(table: ConceptTable) -> dict[str, str]:
    """Return versions by vocabulary."""
    return {of["source"]: of["version"] for of in table.manifest.get("release", [])}
