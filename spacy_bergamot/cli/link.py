"""`link` documents, and `export` linked ones."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.cli.app import Pipeline, bergamot, explained, linker_of, load
from spacy_bergamot.cli.documents import Form, read_documents, write_documents

Output = Annotated[Path, typer.Argument(help=".jsonl, .html, .spacy, or a folder for BRAT files")]
FormOption = Annotated[
    Form | None,
    typer.Option("--format", help="By the output's ending where not given: .html, .spacy or JSONL"),
]
Candidates = Annotated[bool, typer.Option("--candidates", help="Write them too")]
KbUrl = Annotated[
    str, typer.Option(help="Of links in HTML; {} is the concept id, as in https://kb.org/{}")
]


@bergamot.command("link")
def link_cli(
    pipeline: Pipeline,
    source: Annotated[Path, typer.Argument(help=".txt (a document a line), .jsonl or .spacy")],
    output: Output,
    form: FormOption = None,
    candidates: Candidates = False,
    kb_url: KbUrl = "",
    n_process: Annotated[int, typer.Option(min=1, help="Processes")] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Documents at once")] = 128,
) -> None:
    """Link the documents of a file. JSONL lines need "text"; other keys are kept.

    Documents of a .spacy file keep their entities; others get theirs from the pipeline.
    """
    from tqdm import tqdm

    with explained():
        nlp = load(pipeline)
        linker, name = linker_of(nlp)
        pairs = read_documents(source, nlp.vocab)
        stream = nlp.pipe(pairs, as_tuples=True, n_process=n_process, batch_size=batch_size)
        bar = tqdm(stream, unit=" documents", desc="Linking")
        write_documents(bar, output, form, linker, candidates=candidates, kb_url=kb_url)
        typer.echo(f"{output}: linked by {name} of {pipeline}", err=True)


@bergamot.command("export")
def export_cli(
    pipeline: Pipeline,
    source: Annotated[Path, typer.Argument(help="Linked documents, .spacy")],
    output: Output,
    form: FormOption = None,
    candidates: Candidates = False,
    kb_url: KbUrl = "",
) -> None:
    """Write linked documents in another format, without linking them again."""
    with explained():
        nlp = load(pipeline)
        linker, _ = linker_of(nlp)
        pairs = read_documents(source, nlp.vocab)
        docs = ((nlp.make_doc(d) if isinstance(d, str) else d, facts) for d, facts in pairs)
        write_documents(docs, output, form, linker, candidates=candidates, kb_url=kb_url)
        typer.echo(f"{output}: from {source}", err=True)
