"""`index`, `update` and `calibrate`: make a linker, change what it knows, weigh what it says."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language

from spacy_bergamot.cli.app import AsJson, Pipeline, bergamot, explained
from spacy_bergamot.cli.gold import as_mention, read_examples, read_names
from spacy_bergamot.cli.results import prepare_folder
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.changes import ChangeError
from spacy_bergamot.inputs import parsed
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.pipeline.build import build_pipeline
from spacy_bergamot.pipeline.held_out import answers
from spacy_bergamot.pipeline.pipeline_files import list_files
from spacy_bergamot.pipeline.pipelines import FACTORY, linker_of, load_pipeline
from spacy_bergamot.text_files import check_file, numbered_lines

Output = Annotated[Path, typer.Argument(help="Folder of the new pipeline")]


@bergamot.command("index")
def index_cli(
    concepts: Annotated[Path, typer.Argument(help="Concept table: `python -m spacy bergamot kb`")],
    lm: Annotated[str, typer.Argument(help="multilingual-e5-small, a folder or a hub name")],
    output: Output,
    pipeline: Annotated[
        str, typer.Option(help="Add the linker to this one; else mentions come by dictionary")
    ] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of the linker that it has")
    ] = False,
    lang: Annotated[str, typer.Option(help="Of a new pipeline")] = "xx",
    name: Annotated[str, typer.Option(help="Of the pipeline, for its package")] = "",
    version: Annotated[str, typer.Option(help="Of the pipeline, such as 1.0.0")] = "",
    pooling: Annotated[
        str, typer.Option(help="cls or mean; what the model's folder says where not given")
    ] = "",
    prefix: Annotated[
        str | None, typer.Option(help='Written before every name, as "query: " for E5')
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=3, help="Tokens kept of a name; as the folder says, else 25")
    ] = None,
    engine: Annotated[
        str, typer.Option(help="nmslib, usearch, faiss, sharded or exact")
    ] = "nmslib",
    dtype: Annotated[
        str | None, typer.Option(help="Of usearch's vectors: bf16, f16, f32, or i8, the smallest")
    ] = None,
    device: Annotated[str, typer.Option(help="For encoding: cpu, auto, cuda:0")] = "auto",
    precision: Annotated[str, typer.Option(help="For encoding: fp32, bf16, fp16, auto")] = "fp32",
    vectors: Annotated[
        Path | None, typer.Option(help="Keep vectors here, to go on after an interruption")
    ] = None,
) -> None:
    """Make a pipeline with a linker from a concept table and a language model."""
    if dtype is not None and engine != "usearch":
        raise typer.BadParameter("--dtype is of --engine usearch")
    with explained():
        prepare_folder(output)
        nlp = build_pipeline(
            lm=lm,
            concepts=concepts,
            lang=lang,
            nlp=_without_linker(pipeline, replace=replace) if pipeline else None,
            pooling=pooling or None,
            max_length=max_length,
            prefix=prefix,
            engine=engine,
            settings={"dtype": dtype} if dtype is not None else None,
            device=device,
            precision=precision,
            vectors=vectors,
        )
        nlp.meta.update({key: of for key, of in (("name", name), ("version", version)) if of})
        _save(nlp, output)
        typer.echo(f"{output}: {', '.join(nlp.pipe_names)}", err=True)


def _without_linker(pipeline: str, *, replace: bool) -> Language:
    """Load a pipeline that a linker is to be added to; its own is taken out if asked.

    RAISES (BergamotError): B046, and B107 if it has a linker that is not to be replaced.
    """
    nlp = load_pipeline(pipeline)
    linkers = [key for key, factory in nlp.pipe_factories.items() if factory == FACTORY]
    if linkers and not replace:
        raise BergamotError(Errors.B107, name=pipeline, linker=linkers[0])
    for key in linkers:
        nlp.remove_pipe(key)
    return nlp


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
        prepare_folder(output)
        lines = list(numbered_lines(changes))
        entries = [_json(changes, *line) for line in lines]
        nlp = load_pipeline(pipeline)
        linker, name = linker_of(nlp)
        try:
            linker.update_index(entries)
        except ChangeError as error:
            number, text = lines[error.number - 1]
            raise BergamotError(
                Errors.B051,
                number=f"{error.number} ({changes}:{number})",
                entry=text[:80],
                reason=error.reason,
            ) from None
        _save(nlp, output)
        counts = linker.parts.changes.counts if linker.parts.changes else {}
        typer.echo(f"{output}: {name} with {counts}", err=True)


@bergamot.command("calibrate")
def calibrate_cli(
    pipeline: Pipeline,
    gold: Annotated[
        Path,
        typer.Argument(
            help=".spacy, .jsonl of text and entities, .txt of CUI||mention or a folder"
        ),
    ],
    output: Output,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="GOLD has names of the dictionary: hide them, and learn what to refuse as well",
        ),
    ] = False,
    precision: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Set min_probability so that links are this precise"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn how probable links are from mentions whose concepts are known.

    Probabilities are fitted by semantic group, and by whether an alias is in the mention's language
    (the document's; names of a file GER.txt are German). Accuracy, calibration error and thresholds
    are measured on mentions that the weights were not fitted on. The pipeline links from then on
    what reaches min_probability: the one of the best F1, or of the wanted precision.
    With --held-out names are asked for as if the dictionary did not have them, concepts as if the
    knowledge base did not, and everyday words that are to be refused. JSONL lines are
    {"text": "…", "entities": [{"start": 0, "end": 5, "concept_id": "C1", "label": "DISO"}]}.
    """
    with explained():
        prepare_folder(output)
        if not any(gold.glob("*.txt")):  # a folder of them
            check_file(gold)
        nlp = load_pipeline(pipeline)
        linker, name = linker_of(nlp)
        if held_out:
            made = answers(linker, read_names(gold))
            report = linker.calibrate_on(
                made.candidates, made.golds, mentions=made.mentions, precision=precision
            )
        elif gold.is_dir() or gold.suffix == ".txt":
            names = read_names(gold)
            key = linker.settings.spans_key
            docs = [as_mention(nlp, name.text, key, name.language) for name in names]
            found = [of[0] if of else [] for of in linker.predict(docs)]
            golds = [name.concepts for name in names]
            mentions = [Mention.alone(name.text, name.language) for name in names]
            report = linker.calibrate_on(found, golds, mentions=mentions, precision=precision)
        else:
            report = linker.calibrate(read_examples(gold, nlp), precision=precision)
        chosen = _threshold(report, precision)
        nlp.get_pipe_config(name)["min_probability"] = chosen["probability"]
        _save(nlp, output)
    if as_json:
        typer.echo(json.dumps(report, indent=1))
        return
    typer.echo(f"{report['linked']} of {report['mentions']} mentions have candidates")
    for key in ("accuracy", "ece_of_scores", "ece", "brier"):
        typer.echo(f"{key:16} {report[key]:.4f}")
    typer.echo(f"{'':20} {'linked':>8} {'accuracy':>8} {'ece':>8}")
    for key, row in report["levels"].items():
        group, bar, relation = key.partition("|")
        if bar and not relation:
            continue  # of no known language: the row of the group has them
        name = (group or "no group") + (f", {relation} language" if relation else "")
        typer.echo(f"{name:20} {row['linked']:>8} {row['accuracy']:>8.3f} {row['ece']:>8.3f}")
    for wanted, row in report["thresholds"].items():
        text = "is not reached"
        if row:
            text = f"from probability {row['probability']} on, for {row['linked']:.1%} of links"
        typer.echo(f"precision {wanted:6} {text}")
    typer.echo(
        f"min_probability {chosen['probability']}: precision {chosen['precision']:.3f}, "
        f"recall {chosen['recall']:.3f}, F1 {chosen['f1']:.3f}"
    )


def _save(nlp: Language, output: Path) -> None:
    nlp.to_disk(output)
    list_files(output)


def _threshold(report: dict[str, Any], precision: float | None) -> dict[str, float]:
    """Return the figures of the best threshold, or of a wanted precision."""
    if precision is None:
        return dict(report["best"])
    found = report["thresholds"][f"{precision:g}"]
    if found is None:
        most = report["most_precise"]
        raise BergamotError(
            Errors.B056,
            precision=precision,
            highest=most["precision"],
            probability=most["probability"],
            linked=most["linked"],
        )
    return dict(found)


def _json(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = parsed(line)
        if not isinstance(entry, dict):
            raise ValueError("not an object")
    except (ValueError, RecursionError) as reason:
        said = f"{reason}: {line[:80]}"
        raise BergamotError(Errors.B057, path=path, line=number, reason=said) from None
    return entry
