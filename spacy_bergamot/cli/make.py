"""`index`, `update` and `calibrate`: make a linker, change what it knows, weigh what it says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from spacy.pipeline import EntityLinker
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_bergamot.build import build_pipeline
from spacy_bergamot.cli.app import AsJson, Pipeline, bergamot, explained, linker_of, load
from spacy_bergamot.cli.documents import numbered_lines, parse_entry, read_docbin
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.pipeline_files import list_files

Output = Annotated[Path, typer.Argument(help="Folder of the new pipeline")]


@bergamot.command("index")
def index_cli(
    concepts: Annotated[Path, typer.Argument(help="Concept table: `python -m training kb`")],
    lm: Annotated[Path, typer.Argument(help="Language model, a Hugging Face folder")],
    output: Output,
    pipeline: Annotated[
        str, typer.Option(help="Add the linker to this one; else mentions come by dictionary")
    ] = "",
    lang: Annotated[str, typer.Option(help="Of a new pipeline")] = "xx",
    pooling: Annotated[
        str, typer.Option(help="cls or mean; what the model's folder says where not given")
    ] = "",
    engine: Annotated[str, typer.Option(help="nmslib, usearch or exact")] = "nmslib",
    dtype: Annotated[
        str | None, typer.Option(help="Of usearch's vectors: bf16, f16, f32, or i8, the smallest")
    ] = None,
    device: Annotated[str, typer.Option(help="For encoding: cpu, auto, cuda:0")] = "auto",
    precision: Annotated[str, typer.Option(help="For encoding: fp32, bf16, fp16")] = "fp32",
    vectors: Annotated[
        Path | None, typer.Option(help="Keep vectors here, to go on after an interruption")
    ] = None,
) -> None:
    """Make a pipeline with a linker from a concept table and a language model."""
    if dtype is not None and engine != "usearch":
        raise typer.BadParameter("--dtype is of --engine usearch")
    with explained():
        nlp = build_pipeline(
            lm=lm,
            concepts=concepts,
            lang=lang,
            nlp=load(pipeline) if pipeline else None,
            pooling=pooling or None,
            engine=engine,
            settings={"dtype": dtype} if dtype is not None else None,
            device=device,
            precision=precision,
            vectors=vectors,
        )
        _save(nlp, output)
        typer.echo(f"{output}: {', '.join(nlp.pipe_names)}", err=True)


@bergamot.command("update")
def update_cli(
    pipeline: Pipeline,
    changes: Annotated[Path, typer.Argument(help="JSONL of changes, see below")],
    output: Output,
) -> None:
    """Add and remove concepts and aliases, without building the index again.

    Lines are {"action": "add", "concept_id": "C1", "alias": "…", "language": "ENG", "source": "…"},
    for a new concept with "name", "types" and "definition"; or {"action": "remove", "concept_id":
    "C1", "alias": "…"}, without alias for the whole concept.
    """
    with explained():
        entries = [_json(changes, *line) for line in numbered_lines(changes) if line[1].strip()]
        nlp = load(pipeline)
        linker, name = linker_of(nlp)
        linker.update_index(entries)
        _save(nlp, output)
        counts = linker.parts.changes.counts if linker.parts.changes else {}
        typer.echo(f"{output}: {name} with {counts}", err=True)


@bergamot.command("calibrate")
def calibrate_cli(
    pipeline: Pipeline,
    gold: Annotated[
        Path, typer.Argument(help=".spacy, .jsonl of text and entities, or .txt of CUI||mention")
    ],
    output: Output,
    precision: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Set min_probability so that links are this precise"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn how probable links are from mentions whose concepts are known.

    Probabilities are fitted by semantic group and language; accuracy, calibration error and
    thresholds are measured on mentions that the weights were not fitted on. JSONL lines are
    {"text": "…", "entities": [{"start": 0, "end": 5, "concept_id": "C1", "label": "DISO"}]}.
    """
    with explained():
        nlp = load(pipeline)
        linker, name = linker_of(nlp)
        if gold.suffix == ".txt":
            mentions = list(_read_queries(gold))
            docs = [_as_mention(nlp, mention, linker.settings.spans_key) for _, mention in mentions]
            found = [of[0] if of else [] for of in linker.predict(docs)]
            golds = [concepts for concepts, _ in mentions]
            report = linker.calibrate_on(found, golds, precision=precision)
        else:
            report = linker.calibrate(_read_gold(gold, nlp), precision=precision)
        if precision is not None:
            _set_threshold(nlp, name, report, precision)
        _save(nlp, output)
    if as_json:
        typer.echo(json.dumps(report, indent=1))
        return
    typer.echo(f"{report['linked']} of {report['mentions']} mentions have candidates")
    for key in ("accuracy", "ece_of_scores", "ece", "brier"):
        typer.echo(f"{key:16} {report[key]:.4f}")
    typer.echo(f"{'':16} {'linked':>8} {'accuracy':>8} {'ece':>8}")
    for key, row in report["levels"].items():
        typer.echo(f"{key:16} {row['linked']:>8} {row['accuracy']:>8.3f} {row['ece']:>8.3f}")
    for wanted, row in report["thresholds"].items():
        text = "is not reached"
        if row:
            text = f"from probability {row['probability']} on, for {row['linked']:.1%} of links"
        typer.echo(f"precision {wanted:6} {text}")


def _save(nlp: Language, output: Path) -> None:
    nlp.to_disk(output)
    list_files(output)


def _set_threshold(nlp: Language, name: str, report: dict[str, Any], precision: float) -> None:
    """Put the threshold into the config that is saved."""
    found = report["thresholds"][f"{precision:g}"]
    if found is None:
        raise BergamotError(Errors.B056.format(precision=precision))
    nlp.get_pipe_config(name)["min_probability"] = found["probability"]


def _json(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        if not isinstance(entry, dict):
            raise ValueError("not an object")
    except (ValueError, RecursionError) as reason:
        message = Errors.B057.format(path=path, line=number, reason=reason, text=line[:80])
        raise BergamotError(message) from None
    return entry


def _read_queries(path: Path) -> Iterator[tuple[frozenset[str], str]]:
    """Yield gold concepts and mention; several are joined by a bar, NIL is none."""
    for number, line in numbered_lines(path):
        concepts, bars, mention = line.partition("||")
        mention = mention.partition("||")[0]
        if not line.strip():
            continue
        if not bars or not mention.strip():
            reason = "CUI||mention is wanted"
            message = Errors.B057.format(path=path, line=number, reason=reason, text=line[:80])
            raise BergamotError(message)
        yield frozenset(concepts.replace("+", "|").split("|")) - {EntityLinker.NIL, ""}, mention


def _as_mention(nlp: Language, mention: str, spans_key: str | None) -> Doc:
    """Return a document that is one mention."""
    doc = nlp.make_doc(mention)
    span = Span(doc, 0, len(doc), label="MENTION")
    if spans_key is None:
        doc.ents = [span]
    else:
        doc.spans[spans_key] = [span]
    return doc


def _read_gold(path: Path, nlp: Language) -> Iterator[Example]:
    """Yield examples of a DocBin, or of JSON lines with entities."""
    if not path.is_file():
        raise BergamotError(Errors.B001.format(path=path, remedy="Correct the path."))
    if path.suffix == ".spacy":
        for doc in read_docbin(path, nlp.vocab):
            yield Example(doc, doc)
        return
    linker, _ = linker_of(nlp)
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        entry = parse_entry(path, number, line)
        doc = nlp.make_doc(entry["text"])
        spans = []
        try:
            for entity in entry["entities"]:
                span = doc.char_span(
                    entity["start"],
                    entity["end"],
                    label=entity.get("label", "MENTION"),
                    kb_id=entity["concept_id"] or EntityLinker.NIL,
                    alignment_mode="expand",
                )
                if span is None:
                    raise ValueError(f"{entity} lies outside the text")
                spans.append(span)
        except (KeyError, TypeError, ValueError) as reason:
            message = Errors.B057.format(path=path, line=number, reason=reason, text=line[:80])
            raise BergamotError(message) from None
        if linker.settings.spans_key is None:
            doc.ents = spacy.util.filter_spans(spans)
        else:
            doc.spans[linker.settings.spans_key] = spans
        yield Example(doc, doc)
