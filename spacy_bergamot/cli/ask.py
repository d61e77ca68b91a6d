"""`explain`, `search` and `info`: look into a packaged linker."""

import json
from dataclasses import asdict, replace
from typing import Annotated

import typer
from spacy.language import Language

from spacy_bergamot.cli.app import AsJson, Pipeline, bergamot, explained
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.languages import lat
from spacy_bergamot.pipeline.dictionaries import dictionaries_beside
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline
from spacy_bergamot.storage.manifest import differences
from spacy_bergamot.text import comma_separated, normalize


@bergamot.command("explain")
def explain_cli(
    pipeline: Pipeline,
    mention: Annotated[str, typer.Argument(help="Such as HTA")],
    lang: Annotated[
        str,
        typer.Option(help="Languages of aliases, such as es,en or SPA,ENG; all where not given"),
    ] = "",
    label: Annotated[str, typer.Option(help="Entity label, for types_by_label")] = "",
    context: Annotated[
        str, typer.Option(help="Text that it is in, for abbreviations and rerankers")
    ] = "",
    dropped: Annotated[int, typer.Option(min=0, help="Dropped candidates shown, best first")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show how a mention is linked: normal form, hits and scores, filters, decision."""
    with explained():
        linker, _ = linker_of(load_pipeline(pipeline))
        if lang:
            linker = _of_languages(linker, tuple(map(lat, comma_separated(lang))))
        found = linker.explain(mention, label, context=context)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    typer.echo(f"{mention!r} is looked up as {found['looked_up']!r}")
    for entry in found["candidates"]:
        parts = ", ".join(f"{key} {value:.3f}" for key, value in entry["scores"].items())
        if "probability" in entry:
            parts += f", probability {entry['probability']:.3f}"
        alias = f"{entry['alias']} ({entry['language']}, {entry['source']})"
        name = linker.kb.cui_to_entity[entry["concept_id"]].canonical_name
        if normalize(name) != normalize(entry["alias"]):
            alias += f" = {name}"
        typer.echo(f"  {entry['score']:.4f}  {entry['concept_id']:12} {alias}  [{parts}]")
    for entry in found["dropped"][:dropped]:
        what = f"{entry['concept_id']:12} {entry['alias']} ({entry['generator']})"
        typer.echo(f"  dropped {entry['score']:.4f}  {what}: {entry['reason']}")
    more = len(found["dropped"]) - dropped
    if more > 0:
        typer.echo(f"  and {more} more dropped (--dropped {more + dropped} shows all)")
    why = f", as {found['reason']}" if found["reason"] else ""
    typer.echo(f"Decision: {found['decision']}{why}")


@bergamot.command("search")
def search_cli(
    pipeline: Pipeline,
    text: Annotated[str, typer.Argument(help="An id, a name, or part of one")],
    limit: Annotated[int, typer.Option(min=1, help="Concepts shown")] = 10,
    as_json: AsJson = False,
) -> None:
    """Find concepts of the knowledge base by id or name."""
    with explained():
        linker, _ = linker_of(load_pipeline(pipeline))
        found = linker.kb.search(text, limit=limit)
    if as_json:
        rows = [{"score": score, **asdict(entity)} for entity, score in found]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for entity, score in found:
        types = ",".join(entity.types)
        typer.echo(f"{score:.3f}  {entity.concept_id:12} {entity.canonical_name}  {types}")


@bergamot.command("info")
def info_cli(pipeline: Pipeline, as_json: AsJson = False) -> None:
    """Say what a pipeline links to: release, counts, language model; and check its files."""
    with explained():
        nlp = load_pipeline(pipeline)
        linker, name = linker_of(nlp)
        index = linker.parts.index
        manifest = index.manifest
        for bundle in linker.parts.bundles.values():
            if changed := differences(bundle.path):
                raise BergamotError(changed[0])
        facts = {
            "pipeline": f"{nlp.lang}_{nlp.meta['name']} {nlp.meta['version']}",
            "component": name,
            **linker.parts.provenance,
            "languages": linker.kb.aliases_by_language(),
            **_dictionaries(linker),
            **_finders(nlp),
            "engine": manifest["engine"],
            "vectors": f"{manifest['vectors']} of width {manifest['dim']}",
            "licence": nlp.meta.get("license") or "not said",
            "checksums": "as written",
        }
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name or 'none'} {entry}".strip() for name, entry in value.items())
        typer.echo(f"{key:12} {value}")


def _dictionaries(linker: BergamotLinker) -> dict[str, str]:
    """Return what the pipeline finds mentions by: names and languages, by component."""
    return {
        other.name: f"{len(other.keys)} names in {len(other.keys.languages)} languages"
        for other in dictionaries_beside(linker)
    }


def _finders(nlp: Language) -> dict[str, str]:
    """Return the labels of the mentions that trained finders find, by component."""
    from spacy_bergamot.finder import BergamotFinder  # and torch

    found = ((name, pipe) for name, pipe in nlp.pipeline if isinstance(pipe, BergamotFinder))
    return {name: f"finds {', '.join(pipe.tagger.labels)}" for name, pipe in found}


def _of_languages(linker: BergamotLinker, languages: tuple[str, ...]) -> BergamotLinker:
    """Return the linker with another filter of languages, over the same files in memory."""
    allowed = replace(linker.settings.allowed, languages=languages)
    return linker.with_settings(replace(linker.settings, allowed=allowed))
