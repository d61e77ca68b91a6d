"""`python -m training evaluate`: retrieval of gold concepts, as a table and as JSON."""

import json
import logging
import tempfile
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from spacy_bergamot.distinct import group_names
from spacy_bergamot.files import atomic_file
from spacy_bergamot.text_encoder import TextEncoder, fingerprint
from training.errors import BergamotError, Errors
from training.evaluate.dictionary import Dictionary
from training.evaluate.metrics import evaluate
from training.evaluate.protocols import PROTOCOLS, select
from training.evaluate.readers import read_dictionary, read_queries
from training.evaluate.retrievers import (
    DenseRetriever,
    ExactRetriever,
    IndexRetriever,
    Retriever,
    TfidfRetriever,
)

logger = logging.getLogger(__name__)


def evaluate_cli(
    dictionary: Annotated[Path, typer.Argument(help="Dictionary of CUI||name lines")],
    queries: Annotated[
        Path,
        typer.Argument(help="CUI||mention lines, a folder of them, .concept files or gold .jsonl"),
    ],
    output: Annotated[Path, typer.Argument(help="JSON file for the figures")],
    lm: Annotated[
        list[str] | None,
        typer.Option("--lm", help="Language model folder, or NAME=FOLDER; may be repeated"),
    ] = None,
    baselines: Annotated[bool, typer.Option(help="Exact match and character TF-IDF too")] = True,
    exact_search: Annotated[
        bool, typer.Option(help="Search the LM's vectors without the index too")
    ] = False,
    protocol: Annotated[
        str, typer.Option(help=f"Which mentions count: {', '.join(PROTOCOLS)}")
    ] = "full",
    device: Annotated[str, typer.Option(help="torch device: cpu, auto, cuda:0")] = "cpu",
    precision: Annotated[str, typer.Option(help="of the LM's weights: fp32, bf16, fp16")] = "fp32",
) -> None:
    """Measure how often the gold concept is retrieved: Acc@k over concepts and over names."""
    if protocol not in PROTOCOLS:
        raise BergamotError(Errors.T305.format(protocol=protocol, choices=", ".join(PROTOCOLS)))
    report = run_evaluation(
        dictionary,
        queries,
        lms=dict(_named(entry) for entry in lm or []),
        baselines=baselines,
        exact_search=exact_search,
        protocol=protocol,
        device=device,
        precision=precision,
    )
    with atomic_file(output) as path:
        path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    typer.echo(render(report))


def run_evaluation(
    dictionary_path: Path,
    queries_path: Path,
    *,
    lms: dict[str, Path],
    baselines: bool = True,
    exact_search: bool = False,
    protocol: str = "full",
    device: str = "cpu",
    precision: str = "fp32",
) -> dict[str, Any]:
    """Evaluate every system on the same queries and dictionary; return the report."""
    dictionary = Dictionary(read_dictionary(dictionary_path))
    read = read_queries(queries_path)
    known = [query for query in read.queries if query.concept_ids & dictionary.concept_ids]
    queries = select(known, dictionary, protocol)
    if not queries:
        raise BergamotError(Errors.T306.format(path=queries_path, protocol=protocol))
    systems: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for retriever in _retrievers(
            dictionary,
            lms,
            Path(folder),
            baselines,
            exact_search=exact_search,
            device=device,
            precision=precision,
        ):
            logger.info("Evaluating %s on %d mentions", retriever.name, len(queries))
            systems[retriever.name] = evaluate(retriever, queries, dictionary)
    return {
        "dictionary": {"names": len(dictionary), "concepts": len(dictionary.concept_ids)},
        "protocol": protocol,
        "mentions": len(queries),
        "skipped": {**read.skipped, "gold not in the dictionary": len(read.queries) - len(known)},
        "lms": {name: fingerprint(path) for name, path in lms.items()},
        "precision": precision,
        "systems": systems,
    }


def render(report: dict[str, Any]) -> str:
    """Return the report as a table: a group a line, Acc@1 and Acc@5 over concepts a system."""
    systems = report["systems"]
    groups = list(next(iter(systems.values())))
    width = max(12, *(len(name) + 2 for name in [*systems, *groups]))
    lines = [
        f"Recall@1 / recall@5 of the gold concept in percent; {report['protocol']} set, "
        f"{report['mentions']} mentions, {report['dictionary']['names']} names, "
        f"{report['dictionary']['concepts']} concepts",
        f"{'':{width}}{'n':>6}" + "".join(f"{name:>{width + 3}}" for name in systems),
    ]
    for group in groups:
        cells = "".join(
            f"{table[group]['acc@1']:>{width - 4}.1f} / {table[group]['acc@5']:4.1f}"
            for table in systems.values()
        )
        count = int(next(iter(systems.values()))[group]["n"])
        lines.append(f"{group:{width}}{count:>6}{cells}")
    skipped = {reason: count for reason, count in report["skipped"].items() if count}
    if skipped:
        lines.append(f"Skipped: {', '.join(f'{n} {reason}' for reason, n in skipped.items())}")
    return "\n".join(lines)


def _retrievers(
    dictionary: Dictionary,
    lms: dict[str, Path],
    folder: Path,
    baselines: bool,
    *,
    exact_search: bool,
    device: str,
    precision: str,
) -> Any:
    """Yield retrievers one by one, so that only one language model is in memory."""
    if baselines:
        yield ExactRetriever(dictionary)
        yield TfidfRetriever(dictionary)
    for name, path in lms.items():
        encoder = TextEncoder.open(path, device=device, precision=precision)
        groups = group_names(encoder, pa.array(dictionary.names, pa.large_string()))
        vectors = encoder.encode([dictionary.names[row] for row in groups.first], progress=True)
        if exact_search:
            every = vectors[groups.of_rows()]
            exact: Retriever = DenseRetriever(encoder, every, name=f"{name} (exact)")
            yield exact
        yield IndexRetriever(encoder, vectors, groups, folder / name, name=name)


def _named(entry: str) -> tuple[str, Path]:
    name, equals, path = entry.partition("=")
    return (name, Path(path)) if equals else ("lm", Path(entry))
