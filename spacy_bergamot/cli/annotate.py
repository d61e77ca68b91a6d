"""`annotate` a corpus of any size, on one machine or on many."""

import re
from enum import Enum
from typing import Annotated

import typer

from spacy_bergamot.annotate.batches import AnnotateBatches
from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.annotate.inputs import inputs_at
from spacy_bergamot.annotate.job import Counts, Job, done, write_summary
from spacy_bergamot.annotate.on_ray import RayCluster
from spacy_bergamot.annotate.plan import Plan, Unit
from spacy_bergamot.annotate.store import Store
from spacy_bergamot.cli import app
from spacy_bergamot.cli.app import Pipeline, bergamot, explained
from spacy_bergamot.storage.preflight import cores
from spacy_bergamot.text import comma_separated

_ID = "id"


class _Engine(str, Enum):
    """What runs the workers."""

    local = "local"
    ray = "ray"


@bergamot.command("annotate")
def annotate_cli(
    pipeline: Pipeline,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="Parquet file, folder or pattern, also as an URL (s3://…); .jsonl, .csv, .tsv (or "
            ".gz), a folder of .txt",
        ),
    ],
    output: Annotated[str, typer.Argument(help="Folder of Parquet files, also as an URL")],
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes, or actors; one per core where not given")
    ] = None,
    text_column: app.TextColumn = "text",
    id_column: Annotated[
        str | None, typer.Option(help=f"Column of the ids; '{_ID}' where there is one")
    ] = None,
    language_column: Annotated[
        str | None, typer.Option(help="Column of the documents' languages, as de or GER")
    ] = None,
    keep: Annotated[str, typer.Option(help="Further columns to keep, as a,b,c")] = "",
    candidates: app.Candidates = False,
    rows: Annotated[int, typer.Option(min=1, help="Documents per file")] = 20_000,
    kind: app.From = None,
    lines: app.Lines = False,
    device: app.Device = None,
    code: app.Code = None,
    shard: Annotated[
        str, typer.Option(help="The part of one of N jobs, 0/N to N-1/N; they need not meet")
    ] = "0/1",
    timeout: Annotated[
        float, typer.Option(min=1, help="Seconds for 512 documents, before each is tried alone")
    ] = 600,
    engine: Annotated[
        _Engine, typer.Option(help="Processes of this machine, or actors of a Ray cluster")
    ] = _Engine.local,
    ray_address: Annotated[
        str | None,
        typer.Option(help="Of the cluster, such as auto; where not given, one begins here"),
    ] = None,
    worker_cpus: Annotated[float, typer.Option(min=0, help="Of an actor of Ray")] = 1,
    worker_gpus: Annotated[float, typer.Option(min=0, help="Of an actor of Ray")] = 0,
    worker_memory: Annotated[
        float, typer.Option(min=0, help="GiB of an actor of Ray; any where not given")
    ] = 0,
    duplicate_ids: Annotated[
        bool, typer.Option("--duplicate-ids", help="Do not look whether ids come again")
    ] = False,
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="Try the documents that failed again, and no other"),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Look at everything and say what there is to do")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Say how far the output is, and look at nothing else")
    ] = False,
) -> None:
    """Annotate a corpus: a row for every document, in order, with its mentions and their concepts.

    The same command goes on where it was interrupted. A document that fails, or that ends the
    process that links it, is a row with an error.
    """
    from tqdm import tqdm

    number, of = _shard(shard)
    with explained():
        store = Store(output)
        begun = Plan.read(store)
        if begun is None and (status or retry_errors):
            raise BergamotError(Errors.B175, path=output)
        if status and begun is not None:
            _say(done(begun, store), begun.units)
            return
        inputs = inputs_at(source, kind=kind, text_column=text_column, lines=lines)
        ids = id_column or (_ID if _ID in inputs[0].schema.names else None)
        columns = dict.fromkeys([*([ids] if ids else ()), *comma_separated(keep)])
        file = str(code) if code is not None else None
        annotate = AnnotateBatches(
            pipeline, text_column, language_column, (*columns,), candidates, device, file
        )
        unique = None if duplicate_ids else ids
        job = Job.begin(store, inputs, annotate, rows=rows, unique=unique)
        units = job.plan.shard(number, of)
        made = done(job.plan, store)
        todo = [unit for unit in units if unit.number not in made]
        if retry_errors:
            todo = [unit for unit in units if unit.number in made and made[unit.number].errors]
        if dry_run:
            _say(made, units)
            return
        failed = sum(made[unit.number].errors for unit in todo) if retry_errors else 0
        ready = sum(unit.rows for unit in units) - sum(unit.rows for unit in todo)
        total = failed or ready + sum(unit.rows for unit in todo)
        with tqdm(
            total=total, initial=0 if failed else ready, unit=" documents", desc="Annotating"
        ) as bar:
            settings = {"timeout": timeout, "retry": retry_errors, "progress": bar.update}
            if engine is _Engine.ray:
                cluster = RayCluster(ray_address, worker_cpus, worker_gpus, worker_memory)
                unread = cluster.run(job, todo, workers=workers or cores(), **settings)
            else:
                unread = job.run(todo, workers=workers or cores(), **settings)
        made = done(job.plan, store)
        _say(made, units)
        if len(made) == len(job.plan.units):
            write_summary(job.plan, store, Counts.sum(made.values()))
        if unread:
            raise BergamotError(Errors.B176, count=len(unread), of=len(units), reason=unread[0])


def _shard(text: str) -> tuple[int, int]:
    """Return number and count of a shard."""
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if found is None or int(found[1]) >= int(found[2]):
        raise typer.BadParameter(
            "--shard is I/N with I below N, such as 0/8 for the first of eight"
        )
    return int(found[1]), int(found[2])


def _say(made: dict[int, Counts], units: list[Unit]) -> None:
    """Say how far units are."""
    known = [made[unit.number] for unit in units if unit.number in made]
    rows, counts = sum(unit.rows for unit in units), Counts.sum(known)
    typer.echo(
        f"{len(known)} of {len(units)} files, {counts.rows} of {rows} documents: "
        f"{counts.mentions} mentions, {counts.linked} linked, {counts.errors} documents failed"
    )
