"""What a card adds to a pipeline's meta.json, where `spacy info` and the wheel show it."""

from collections.abc import Iterable, Mapping
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from training.card.sources import licence_of
from training.errors import BergamotError, Errors

ENTRY = "bergamot"
_WRITTEN = "written"
_OURS = {"bergamot_mentions", "bergamot_linker"}
_NAMED = 5  # sources that the description names


def complete(
    meta: Mapping[str, Any],
    facts: Mapping[str, Any],
    *,
    name: str | None = None,
    version: str | None = None,
    factories: Iterable[str] = (),
    path: Path,
) -> dict[str, Any]:
    """Return a meta.json with description, licence, sources, performance and the facts.

    factories: What makes the pipeline's components. Where all are ours, the pipeline works with
        every spaCy that we support; spaCy would ask for the very version that it was made with.

    A description or a licence that stands there from another hand is kept, and so are figures
    of other components; what an earlier card wrote is replaced.

    RAISES (BergamotError): T504 if spaCy would not take it.
    """
    entry = meta.get(ENTRY)
    before = entry.get(_WRITTEN, {}) if isinstance(entry, dict) else {}
    ours = _texts(facts)
    performance = performance_of(facts)
    others = {
        key: value
        for key, value in (meta.get("performance") or {}).items()
        if key not in before.get("performance", [])
    }
    kept = {key: meta[key] for key in ours if meta.get(key) and meta[key] != before.get(key)}
    written = {**ours, "performance": list(performance)}
    made = {
        **meta,
        **ours,
        **kept,
        "sources": [_in_spacys_form(source) for source in facts["knowledge_base"]["sources"]],
        "performance": others | performance,
        ENTRY: {**facts, _WRITTEN: written},
    }
    made |= {key: value for key, value in (("name", name), ("version", version)) if value}
    if set(factories) <= _OURS:
        made["spacy_version"] = _supported_spacy() or made["spacy_version"]
    _check(made, path)
    return made


def _supported_spacy() -> str:
    """Return the versions of spaCy that the installed package asks for, such as <4.0,>=3.7."""
    for line in requires("spacy_bergamot") or []:
        asked = Requirement(line)
        if asked.name == "spacy" and asked.marker is None:
            return str(asked.specifier)
    return ""


def performance_of(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return flat figures: shares of 1 and milliseconds; what was not measured is left out."""
    found: dict[str, float] = {}
    groups = facts["recall"].get("groups", {})
    for group in sorted(groups, key=lambda group: group not in ("micro", "macro")):
        row = groups[group]
        end = "" if group == "micro" else f"_{group}"
        found |= {f"{key}{end}": row[key] for key in ("recall@1", "recall@5") if key in row}
    if facts["calibration"]:
        found["calibration_ece"] = facts["calibration"]["ece"]
    speed = facts["speed"]
    for key, name in (("new", "new_mention"), ("known", "known_name")):
        for end in ("p50", "p95") if speed else ():
            found[f"ms_per_{name}_{end}"] = speed[f"{key}_ms_{end}"]
    return found


def _texts(facts: Mapping[str, Any]) -> dict[str, str]:
    knowledge, index = facts["knowledge_base"], facts["index"]
    named = [source["name"] for source in knowledge["sources"][:_NAMED]]
    more = len(knowledge["sources"]) - len(named)
    origin = ", ".join(named) + (f" and {more} more" if more else "")
    base = facts["language_model"].get("base_licence")
    return {
        "description": (
            f"Links mentions in {len(knowledge['languages'])} languages to "
            f"{knowledge['concepts']:,} concepts of {origin}, by a language model of "
            f"{facts['language_model']['parameters'] / 1e6:.1f} million parameters and an "
            f"{index['engine']} index of {knowledge['distinct_names']:,} names."
        ),
        "license": licence_of(knowledge["sources"], [base] if base else []),
    }


def _in_spacys_form(source: Mapping[str, Any]) -> dict[str, str]:
    version = f", {source['version']}" if source["version"] else ""
    return {
        "name": f"{source['name']}{version}",
        "url": source["address"],
        "author": source["author"],
        "license": source["licence"],
    }


def _check(meta: dict[str, Any], path: Path) -> None:
    from packaging.version import InvalidVersion, Version
    from spacy.schemas import ModelMetaSchema, validate

    reasons = validate(ModelMetaSchema, meta)
    if not str(meta.get("name")).isidentifier():
        reasons.append(f"the name '{meta.get('name')}' is no Python identifier")
    try:
        Version(str(meta.get("version")))
    except InvalidVersion as reason:
        reasons.append(str(reason))
    if reasons:
        raise BergamotError(Errors.T504, path=path, reason="; ".join(reasons))
