"""`python -m training preprocess`: config and arguments in, `preprocess` does the work."""

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import SUPPRESSED, Filters, require_known
from spacy_bergamot.kb_import.progress import timed
from spacy_bergamot.kb_import.release import find_tables
from spacy_bergamot.languages import lat
from spacy_bergamot.storage.preflight import announce
from spacy_bergamot.text import comma_separated
from training.configs import check_names, load_config
from training.errors import BergamotError, Errors, check_choice
from training.preprocess.evaluation_set import write_evaluation_set, write_validation_set
from training.preprocess.graded import graded_pairs, require_hierarchy
from training.preprocess.names import training_names
from training.preprocess.pairs import Caps
from training.preprocess.training_set import write_training_set

CONFIG = Path(__file__).parents[2] / "configs/preprocess.cfg"
SET: Any = None
"""The default of an option that has its default in the config."""
_WORTH_SAYING = 100 << 20  # bytes of MRCONSO and MRREL
_BASE = 350 << 20
_MEMORY, _DISK, _SECONDS = 1.3, 0.7, 4e-8  # a byte of theirs
_LIST = "comma-separated; everything where empty"


def _read_config(context: typer.Context, path: Path) -> Path:
    """Make a config's settings the defaults of the options.

    RAISES (BergamotError): T210 for an unreadable file, T211 for settings that are not the options.
    """
    config = load_config(path)
    settings = dict(config.pop("preprocess", {}))
    parameters = inspect.signature(preprocess_cli).parameters
    options = {name for name, option in parameters.items() if option.default is SET}
    missing, unknown = options - set(settings), {*config, *settings} - options
    check_names(path, missing=missing, unknown=unknown, example="configs/preprocess.cfg")
    context.default_map = settings
    return path


def preprocess_cli(
    meta: Annotated[
        Path, typer.Argument(help="Folder with MRCONSO.RRF (or .gz), or a release's zip")
    ],
    output: Annotated[Path, typer.Argument(help="Folder for kb/, train/ and eval/")],
    languages: Annotated[str, typer.Option(help=f"Such as ENG,SPA or en,es; {_LIST}")] = SET,
    sources: Annotated[str, typer.Option(help=f"SAB; {_LIST}")] = SET,
    term_types: Annotated[str, typer.Option(help=f"TTY; {_LIST}")] = SET,
    semantic_types: Annotated[str, typer.Option(help=f"TUI, such as T047; {_LIST}")] = SET,
    semantic_groups: Annotated[str, typer.Option(help=f"such as DISO,CHEM; {_LIST}")] = SET,
    suppress: Annotated[
        bool, typer.Option("--suppress/--keep-suppressed", help="Drop rows with SUPPRESS O, Y or E")
    ] = SET,
    max_name_length: Annotated[int, typer.Option(min=1, help="Longer names are dropped")] = SET,
    cap_english: Annotated[int, typer.Option(min=0, help="English pairs per concept")] = SET,
    cap_monolingual: Annotated[
        int, typer.Option(min=0, help="Pairs per concept and language")
    ] = SET,
    cap_crosslingual: Annotated[
        int, typer.Option(min=0, help="Pairs across languages per concept and bucket")
    ] = SET,
    english_crosslingual_only: Annotated[
        bool,
        typer.Option(
            "--english-crosslingual-only/--all-crosslingual",
            help="Pairs across languages only with English, or between any two",
        ),
    ] = SET,
    relation_label: Annotated[str, typer.Option(help="Edge types: rel or rela")] = SET,
    add_inverses: Annotated[
        bool,
        typer.Option(
            "--add-inverses/--no-inverses", help="For sources that store one direction only"
        ),
    ] = SET,
    hierarchy: Annotated[
        str,
        typer.Option(help="Graded pairs too, by mrhier, mrhier_rows or relations, for graded.v1"),
    ] = SET,
    train_languages: Annotated[
        str, typer.Option(help="LAT whose names alone are trained on; the rest stays as it is")
    ] = SET,
    held_out: Annotated[
        float, typer.Option(min=0, help="Share of names kept for evaluation")
    ] = SET,
    valid_concepts: Annotated[
        float, typer.Option(min=0, help="Share of concepts kept for validation during training")
    ] = SET,
    seed: Annotated[int, typer.Option(min=0, help="Of held-out names and sampled pairs")] = SET,
    max_malformed: Annotated[
        float, typer.Option(min=0, max=1, help="Stop above this share of bad rows")
    ] = SET,
    training_set: Annotated[
        bool,
        typer.Option(
            "--training-set/--no-training-set", help="Pairs and graph too, or nothing to train on"
        ),
    ] = SET,
    config: Annotated[
        Path,
        typer.Option(
            is_eager=True,
            callback=_read_config,
            show_default="configs/preprocess.cfg",
            help="Settings; options override them",
        ),
    ] = CONFIG,
) -> None:
    """Turn a knowledge base in RRF form into concept table, training set and held-out names.

    What is not given is as in configs/preprocess.cfg, or the file that --config names.
    """
    filters = Filters(
        languages=tuple(map(lat, comma_separated(languages))),
        sources=comma_separated(sources),
        term_types=comma_separated(term_types),
        suppress=SUPPRESSED if suppress else (),
        semantic_types=comma_separated(semantic_types),
        semantic_groups=comma_separated(semantic_groups),
        max_name_length=max_name_length,
    )
    manifests = preprocess(
        meta,
        output,
        filters=filters,
        caps=Caps(cap_english, cap_monolingual, cap_crosslingual),
        english_crosslingual_only=english_crosslingual_only,
        relation_label=relation_label,
        hierarchy=hierarchy,
        train_languages=tuple(map(lat, comma_separated(train_languages))),
        add_inverses=add_inverses,
        held_out=held_out,
        valid_concepts=valid_concepts,
        seed=seed,
        max_malformed=max_malformed,
        training_set=training_set,
    )
    typer.echo(render(manifests))


def preprocess(
    meta: Path,
    output: Path,
    *,
    filters: Filters,
    caps: Caps,
    english_crosslingual_only: bool,
    relation_label: str,
    train_languages: tuple[str, ...],
    add_inverses: bool,
    held_out: float,
    valid_concepts: float,
    seed: int,
    max_malformed: float,
    training_set: bool,
    hierarchy: str = "",
) -> dict[str, dict[str, Any]]:
    """Write output/kb, eval, and train and valid if asked for; return their manifests by name."""
    check_choice("relation label", relation_label, ("rel", "rela"))
    for name, share in {"held_out": held_out, "valid_concepts": valid_concepts}.items():
        if not 0 <= share < 1:
            rule = "at least 0 and below 1"
            raise BergamotError(Errors.B037, setting=name, value=share, rule=rule)
    require_hierarchy(hierarchy, meta)
    announce_preprocessing(meta, output)
    kb = build_concept_table(
        meta, output / "kb", filters=filters, add_inverses=add_inverses, max_malformed=max_malformed
    )
    table = ConceptTable.open(output / "kb", checksums=False)
    require_known(
        "language", train_languages, known=kb["counts"]["aliases_by_language"], path=output / "kb"
    )
    with timed("Choosing the training names"):
        names = training_names(table, held_out=held_out, valid_concepts=valid_concepts, seed=seed)
    manifests, graded = {"kb": kb}, None
    if training_set:
        trained = names.of_languages(train_languages) if train_languages else names
        if hierarchy:
            with timed("Grading pairs of names and ancestors"):
                graded = graded_pairs(hierarchy, meta, table, trained, seed=seed)
        manifests["train"] = write_training_set(
            output / "train",
            table,
            trained,
            caps=caps,
            english_crosslingual_only=english_crosslingual_only,
            relation_label=relation_label,
            languages=train_languages,
            seed=seed,
            hierarchy=hierarchy,
            graded=graded,
        )
    with timed("Writing the evaluation set"):
        manifests["eval"] = write_evaluation_set(
            output / "eval", table, names, held_out=held_out, seed=seed, graded=graded
        )
    if valid_concepts:
        with timed("Writing the validation set"):
            manifests["valid"] = write_validation_set(
                output / "valid", table, names, valid_concepts=valid_concepts, seed=seed
            )
    return manifests


def announce_preprocessing(meta: Path, output: Path) -> None:
    """Say what preprocessing takes, from the sizes of MRCONSO and MRREL."""
    tables = find_tables(meta)
    sizes = [tables[name].size for name in ("MRCONSO", "MRREL") if name in tables]
    if sum(sizes) >= _WORTH_SAYING:
        announce(
            "Preprocessing",
            memory=int(_BASE + _MEMORY * sum(sizes)),
            disk=int(_DISK * sum(sizes)),
            folder=output,
            seconds=_SECONDS * sum(sizes),
        )


def render(manifests: dict[str, dict[str, Any]]) -> str:
    """Return a summary: counts of what was kept, and of what was dropped and why."""
    kb, held = manifests["kb"], sum(manifests["eval"]["queries"].values())
    counts = kb["counts"]
    rows = {
        "concepts": kb["rows"]["concepts"],
        "aliases": f"{kb['rows']['aliases']} ({_listed(counts['aliases_by_language'])})",
        "relations": kb["rows"]["relations"],
    }
    if "train" in manifests:
        train = manifests["train"]
        rows |= {
            "edges": f"{train['edges']} of {len(train['relation_labels'])} types",
            "pairs": f"{train['pairs']} ({_listed(train['pairs_by_bucket'])})",
            "training names": train["names"],
        }
        if "graded_pairs" in train:
            left_out = _listed(train["graded_skipped"]) or "nothing"
            rows["graded pairs"] = f"{train['graded_pairs']} (left out: {left_out})"
    queries = _listed(manifests["eval"]["queries"])
    rows |= {
        "held-out names": f"{held} ({queries})" if held else "none",
        "malformed rows": _listed({k: v for k, v in counts["malformed"].items() if v}) or "none",
        "dropped rows": _listed(counts["dropped"]) or "none",
    }
    if "graded" in manifests["eval"]:
        rows["held-out pairs"] = f"{manifests['eval']['graded']} (graded, for tasks similarity)"
    if "valid" in manifests:
        rows["validation"] = _listed(manifests["valid"]["queries"])
    return "\n".join(f"{title:16} {value}" for title, value in rows.items())


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
