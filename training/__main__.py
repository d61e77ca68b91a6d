"""`python -m training STAGE`."""

import logging
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer

from spacy_bergamot.errors import BergamotError

COMMANDS = {
    "download": "training.download.umls:download_cli",
    "wikidata": "training.download.wikidata:wikidata_cli",
    "import": "spacy_bergamot.kb_import.ontology.cli:import_cli",
    "preprocess": "training.preprocess.cli:preprocess_cli",
    "base": "training.base:base_cli",
    "train": "training.bergamot.cli:train_cli",
    "ablation": "training.ablation.cli:ablation_cli",
    "benchmark": "training.benchmark.cli:benchmark_cli",
    "corpus": "training.corpora.cli:corpus_cli",
    "translate": "training.translate.cli:translate_cli",
    "silver": "training.finder.cli:silver_cli",
    "finder": "training.finder.cli:finder_cli",
    "encode": "training.encode:encode_cli",
    "upgrade": "training.upgrade.cli:upgrade_cli",
    "align": "training.align.cli:align_cli",
    "shrink": "training.shrink.cli:shrink_cli",
    "evaluate": "training.evaluate.cli:evaluate_cli",
    "evaluate-report": "training.evaluate.report.cli:evaluate_report_cli",
    "evaluate-links": "training.evaluate.links_cli:evaluate_links_cli",
    "card": "training.card.cli:card_cli",
    "pairs": "training.pairs:pairs_cli",
    "export-pairs": "training.pairs:export_pairs_cli",
    "report": "training.report:report_cli",
    "mentions": "training.mentions:mentions_cli",
    "rerank": "training.rerank.cli:rerank_cli",
    "cross-encoder": "training.cross_encoder.cli:cross_encoder_cli",
    "tasks": "training.tasks.cli:app",
}
"""Where they are: one is imported when it is called, as all of them take seconds."""
_WITH_OVERRIDES = ("train", "ablation", "benchmark")
_ANY = {"allow_extra_args": True, "ignore_unknown_options": True}


def make_app(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """Return an app of some commands, or of all.

    names (Iterable[str]): Of `COMMANDS`.
    """
    made = typer.Typer(
        help="Make a BERGAMOT language model: preprocess, train, encode, evaluate.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        callback=lambda: None,  # without one the only command of an app would need no name
    )
    for name in names:
        module, _, function = COMMANDS[name].partition(":")
        command = getattr(import_module(module), function)
        if isinstance(command, typer.Typer):
            made.add_typer(command, name=name)
        else:
            settings = _ANY if name in _WITH_OVERRIDES else None
            made.command(name, context_settings=settings)(command)
    return made


def __getattr__(name: str) -> Any:
    """Return the app of all commands."""
    if name != "app":
        raise AttributeError(name)
    app = globals()["app"] = make_app()
    return app


def main() -> None:
    """Run a stage; an error that the user can mend ends it with one message and status 1."""
    # Workers are forked after the tokenizer ran; they never tokenise.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("nmslib").setLevel(logging.WARNING)
    try:
        make_app([name for name in sys.argv[1:2] if name in COMMANDS] or COMMANDS)()
    except BergamotError as error:
        typer.echo(f"✘ {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
