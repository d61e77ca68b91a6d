"""`link` documents, and `export` linked ones."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from spacy_bergamot.annotate.documents import Linked, link_documents
from spacy_bergamot.annotate.sources import Kind, Source
from spacy_bergamot.cli import app
from spacy_bergamot.cli.app import Pipeline, bergamot, explained
from spacy_bergamot.cli.results import Form, Results, form_of
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.linking.spans import spans_of
from spacy_bergamot.pipeline.pipelines import import_code, linker_of, load_pipeline

Output = Annotated[
    Path, typer.Argument(help=".jsonl, .html, .spacy, a new folder for BRAT files; - for stdout")
]
FormOption = Annotated[
    Form | None,
    typer.Option("--format", help="By the output's ending where not given: .html, .spacy or JSONL"),
]
KbUrl = Annotated[
    str, typer.Option(help="Of links in HTML; {} is the concept id, as in https://kb.org/{}")
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "--system", help="FHIR system URI of a vocabulary, as LOCAL=https://kb.org; again for more"
    ),
]
KbName = Annotated[
    str | None,
    typer.Option(
        "--knowledge-base",
        help="Vocabulary of ids that do not say theirs, in BRAT, BigBIO and FHIR",
    ),
]
_SHOWN = 5


@bergamot.command("link")
def link_cli(
    pipeline: Pipeline,
    source: Annotated[
        Path,
        typer.Argument(
            help="Folder of .txt; .txt, .jsonl, .csv, .tsv (or .gz), .parquet, .spacy; - for stdin"
        ),
    ],
    output: Output,
    form: FormOption = None,
    candidates: app.Candidates = False,
    kb_url: KbUrl = "",
    systems: Systems = None,
    knowledge_base: KbName = None,
    kind: app.From = None,
    text_column: app.TextColumn = "text",
    lines: app.Lines = False,
    device: app.Device = None,
    n_process: Annotated[int, typer.Option(min=1, help="Processes")] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Documents at once")] = 128,
    code: app.Code = None,
) -> None:
    """Link documents. A .txt is one; of JSONL, CSV and Parquet other keys and columns are kept.

    Documents of a .spacy file keep their entities; others get theirs from the pipeline. One that
    fails is a row with "error" in JSONL and in the index of BRAT files; other forms leave it out.
    """
    from tqdm import tqdm

    with explained():
        found = Source.at(source, kind=kind, text_column=text_column, lines=lines)
        form = form_of(output, form)
        uris = _systems(systems)
        import_code(code)
        nlp = load_pipeline(pipeline, device=device)
        linker, name = linker_of(nlp)
        entries = found.read(nlp.vocab)
        stream = link_documents(nlp, entries, n_process=n_process, batch_size=batch_size)
        bar = tqdm(stream, total=found.count(), unit=" documents", desc="Linking")
        failed: list[str] = []
        results = Results(output, form, linker, candidates, kb_url, uris, knowledge_base)
        results.write(_counted(bar, failed))
        typer.echo(f"{output}: linked by {name} of {pipeline}", err=True)
        _report(failed, form)


@bergamot.command("export")
def export_cli(
    pipeline: Pipeline,
    source: Annotated[Path, typer.Argument(help="Linked documents, .spacy")],
    output: Output,
    form: FormOption = None,
    candidates: app.Candidates = False,
    kb_url: KbUrl = "",
    systems: Systems = None,
    knowledge_base: KbName = None,
    code: app.Code = None,
) -> None:
    """Write linked documents in another format, without linking them again."""
    with explained():
        found = Source.at(source)
        if found.kind is not Kind.spacy:
            raise BergamotError(Errors.B105, path=source, reason="these texts are not linked")
        form = form_of(output, form)
        uris = _systems(systems)
        import_code(code)
        nlp = load_pipeline(pipeline)
        linker, _ = linker_of(nlp)
        entries = found.read(nlp.vocab)
        docs = (
            Linked(e.text if isinstance(e.text, Doc) else None, e.facts, e.problem) for e in entries
        )
        results = Results(output, form, linker, candidates, kb_url, uris, knowledge_base)
        results.write(_linked_ones(docs, source, linker.settings.spans_key))
        typer.echo(f"{output}: from {source}", err=True)


def _systems(given: list[str] | None) -> dict[str, str]:
    """Return system URIs by vocabulary."""
    pairs = [entry.partition("=") for entry in given or ()]
    for vocabulary, _, uri in pairs:
        if not vocabulary or not uri:
            raise typer.BadParameter("--system is NAME=URI, such as LOCAL=https://kb.org")
    return {vocabulary: uri for vocabulary, _, uri in pairs}


def _counted(docs: Iterable[Linked], failed: list[str]) -> Iterator[Linked]:
    """Yield documents, and add to `failed` what is wrong with those that failed."""
    for number, linked in enumerate(docs, 1):
        if linked.doc is None:
            who = f" ({linked.facts['id']})" if "id" in linked.facts else ""
            failed.append(f"document {number}{who}: {linked.problem}")
        yield linked


def _report(failed: list[str], form: Form) -> None:
    """Say which documents failed."""
    if not failed:
        return
    where = 'rows with "error"' if form in (Form.jsonl, Form.brat) else "left out"
    typer.echo(f"✘ {len(failed)} documents failed, {where}:", err=True)
    for text in failed[:_SHOWN]:
        typer.echo(f"  {text}", err=True)
    if len(failed) > _SHOWN:
        typer.echo(f"  and {len(failed) - _SHOWN} more", err=True)


def _linked_ones(docs: Iterable[Linked], source: Path, key: str | None) -> Iterator[Linked]:
    """Yield documents.

    RAISES (BergamotError): B105 at the end if none has been linked.
    """
    mentions = False
    known = False
    for linked in docs:
        if linked.doc is not None:
            spans = spans_of(linked.doc, key)
            mentions |= bool(spans)
            known |= any(span.kb_id for span in spans) or bool(linked.doc._.bergamot)
        yield linked
    if mentions and not known:
        reason = "no mention in it has ever been linked"
        raise BergamotError(Errors.B105, path=source, reason=reason)
