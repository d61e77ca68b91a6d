"""`python -m spacy bergamot`: link, explain, search, info and export."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TextIO

import spacy
import typer
from spacy.cli._util import app
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.exporters import to_brat, to_dict, to_fhir
from spacy_bergamot.files import atomic_file, read_manifest
from spacy_bergamot.linker import BergamotLinker

bergamot = typer.Typer(
    name="bergamot",
    help="Link mentions to the concepts of a knowledge base, and look into a packaged linker.",
    no_args_is_help=True,
)
app.add_typer(bergamot)

Pipeline = Annotated[str, typer.Argument(help="Installed package or folder of a pipeline")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table")]


class Format(str, Enum):
    """What `link` writes."""

    jsonl = "jsonl"
    brat = "brat"
    fhir = "fhir"


@bergamot.command("link")
def link_cli(
    pipeline: Pipeline,
    source: Annotated[Path, typer.Argument(help=".txt (a document a line), .jsonl or .spacy")],
    output: Annotated[Path, typer.Argument(help=".jsonl, .spacy, or a folder for BRAT files")],
    form: Annotated[Format, typer.Option("--format", help="Of an output that is not .spacy")] = (
        Format.jsonl
    ),
    candidates: Annotated[bool, typer.Option("--candidates", help="Write them too")] = False,
    n_process: Annotated[int, typer.Option(min=1, help="Processes")] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Documents at once")] = 128,
) -> None:
    """Link the documents of a file. JSONL lines need "text"; other keys are kept.

    Documents of a .spacy file keep their entities; others get theirs from the pipeline.
    """
    from tqdm import tqdm

    with _explained():
        nlp = _load(pipeline)
        linker, name = _linker(nlp)
        key = linker.settings.spans_key
        pairs = _read(source, nlp)
        stream = nlp.pipe(pairs, as_tuples=True, n_process=n_process, batch_size=batch_size)
        bar = tqdm(stream, unit=" documents", desc="Linking")
        if output.suffix == ".spacy":
            store = DocBin(store_user_data=True)
            for doc, _ in bar:
                store.add(doc)
            with atomic_file(output) as temporary:
                store.to_disk(temporary)
        elif form is Format.brat:
            output.mkdir(parents=True, exist_ok=True)
            for number, (doc, facts) in enumerate(bar):
                stem = output / str(facts.get("id", f"{number:08d}")).replace("/", "_")
                _write(stem.with_suffix(".txt"), doc.text)
                _write(stem.with_suffix(".ann"), to_brat(doc, spans_key=key))
        else:
            with atomic_file(output) as temporary, temporary.open("w", encoding="utf8") as lines:
                for doc, facts in bar:
                    entry = to_dict(doc, spans_key=key, candidates=candidates)
                    if form is Format.fhir:
                        entry = {"text": doc.text, "codes": to_fhir(doc, linker.kb, spans_key=key)}
                    _line(lines, {**facts, **entry})
        typer.echo(f"{output}: linked by {name} of {pipeline}", err=True)


@bergamot.command("explain")
def explain_cli(
    pipeline: Pipeline,
    mention: Annotated[str, typer.Argument(help="Such as HTA")],
    lang: Annotated[str, typer.Option(help="Languages of aliases, such as SPA,ENG; or all")] = "",
    label: Annotated[str, typer.Option(help="Entity label, for types_by_label")] = "",
    context: Annotated[str, typer.Option(help="Text that may define abbreviations")] = "",
    as_json: AsJson = False,
) -> None:
    """Show how a mention is linked: normal form, hits and scores, filters, decision."""
    with _explained():
        linker, name = _linker(_load(pipeline))
        if lang:
            languages = [value.strip() for value in lang.split(",")]
            config = {"components": {name: {"languages": languages}}}
            linker, _ = _linker(_load(pipeline, config=config))
        found = linker.explain(mention, label, context=context)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    typer.echo(f"{mention!r} is looked up as {found['looked_up']!r}")
    for entry in found["candidates"]:
        parts = ", ".join(f"{key} {value:.3f}" for key, value in entry["scores"].items())
        alias = f"{entry['alias']} ({entry['language']}, {entry['source']})"
        typer.echo(f"  {entry['score']:.4f}  {entry['concept_id']:12} {alias}  [{parts}]")
    for entry in found["dropped"]:
        what = f"{entry['concept_id']:12} {entry['alias']} ({entry['generator']})"
        typer.echo(f"  dropped {entry['score']:.4f}  {what}: {entry['reason']}")
    threshold = found["threshold"]
    typer.echo(f"Decision: {found['decision']} (threshold {threshold})")


@bergamot.command("search")
def search_cli(
    pipeline: Pipeline,
    text: Annotated[str, typer.Argument(help="A name, or part of one")],
    limit: Annotated[int, typer.Option(min=1, help="Concepts shown")] = 10,
    as_json: AsJson = False,
) -> None:
    """Find concepts of the knowledge base by name."""
    with _explained():
        linker, _ = _linker(_load(pipeline))
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
    with _explained():
        nlp = _load(pipeline)
        linker, name = _linker(nlp)
        index = linker.parts.index
        manifest = index.manifest
        for bundle in linker.parts.bundles.values():
            kind = json.loads((bundle.path / "manifest.json").read_text("utf8"))
            read_manifest(bundle.path, kind=kind["kind"], version=kind["format_version"])
        facts = {
            "pipeline": f"{nlp.lang}_{nlp.meta['name']} {nlp.meta['version']}",
            "component": name,
            **linker.parts.provenance,
            "languages": index.table.manifest["counts"].get("aliases_by_language", {})
            if "counts" in index.table.manifest
            else {},
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
            value = ", ".join(f"{name} {entry}".strip() for name, entry in value.items())
        typer.echo(f"{key:12} {value}")


def _load(pipeline: str, **settings: Any) -> Language:
    try:
        return spacy.load(pipeline, **settings)
    except OSError as reason:
        raise BergamotError(Errors.B046.format(name=pipeline, reason=reason)) from None


def _linker(nlp: Language) -> tuple[BergamotLinker, str]:
    for name, component in nlp.pipeline:
        if isinstance(component, BergamotLinker):
            return component, name
    raise BergamotError(Errors.B047.format(components=", ".join(nlp.pipe_names)))


def _read(path: Path, nlp: Language) -> Iterator[tuple[str | Doc, dict[str, Any]]]:
    """Yield text or document and what else is known of it. RAISES (BergamotError): B048, B049."""
    if not path.is_file():
        raise BergamotError(Errors.B001.format(path=path, remedy="Correct the path."))
    if path.suffix == ".spacy":
        for doc in DocBin().from_disk(path).get_docs(nlp.vocab):
            yield doc, {}
        return
    with path.open(encoding="utf8", newline="\n") as lines:
        for number, line in enumerate(_decoded(lines, path), 1):
            line = line.rstrip("\r\n")
            if path.suffix != ".jsonl":
                yield line, {}
            elif line.strip():
                try:
                    entry = json.loads(line)
                    text = entry.pop("text")
                    if not isinstance(text, str):
                        raise TypeError
                except (ValueError, KeyError, TypeError, AttributeError):
                    message = Errors.B048.format(path=path, line=number, text=line[:80])
                    raise BergamotError(message) from None
                yield text, entry


def _decoded(lines: TextIO, path: Path) -> Iterable[str]:
    try:
        yield from lines
    except UnicodeDecodeError as reason:
        raise BergamotError(Errors.B049.format(path=path, reason=reason)) from None


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf8", newline="\n")


def _line(lines: TextIO, entry: dict[str, Any]) -> None:
    lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


@contextmanager
def _explained() -> Iterator[None]:
    """Show an error that the user can mend in one line, and end with status 1."""
    try:
        yield
    except BergamotError as error:
        typer.echo(f"✘ {error}", err=True)
        sys.exit(1)
