"""`python -m training STAGE`."""

import logging
import os
import sys

import typer

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb_import.ontology.cli import import_cli
from training.ablation.cli import ablation_cli
from training.align.cli import align_cli
from training.base import base_cli
from training.benchmark.cli import benchmark_cli
from training.bergamot.cli import train_cli
from training.card.cli import card_cli
from training.corpora.cli import corpus_cli
from training.cross_encoder.cli import cross_encoder_cli
from training.download.umls import download_cli
from training.download.wikidata import wikidata_cli
from training.encode import encode_cli
from training.evaluate.cli import evaluate_cli
from training.evaluate.links_cli import evaluate_links_cli
from training.evaluate.report.cli import evaluate_report_cli
from training.finder.cli import finder_cli, silver_cli
from training.kb import kb_cli
from training.mentions import mentions_cli
from training.pairs import export_pairs_cli, pairs_cli
from training.preprocess.cli import preprocess_cli
from training.report import report_cli
from training.rerank.cli import rerank_cli
from training.shrink.cli import shrink_cli
from training.tasks.cli import app as tasks
from training.translate.cli import translate_cli
from training.upgrade.cli import upgrade_cli

app = typer.Typer(
    help="Make a BERGAMOT language model: preprocess, train, encode, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("download")(download_cli)
app.command("wikidata")(wikidata_cli)
app.command("import")(import_cli)
app.command("kb")(kb_cli)
app.command("preprocess")(preprocess_cli)
app.command("base")(base_cli)
app.command("train", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    train_cli
)
app.command(
    "ablation", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)(ablation_cli)
app.command(
    "benchmark", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)(benchmark_cli)
app.command("corpus")(corpus_cli)
app.command("translate")(translate_cli)
app.command("silver")(silver_cli)
app.command("finder")(finder_cli)
app.command("encode")(encode_cli)
app.command("upgrade")(upgrade_cli)
app.command("align")(align_cli)
app.command("shrink")(shrink_cli)
app.command("evaluate")(evaluate_cli)
app.command("evaluate-report")(evaluate_report_cli)
app.command("evaluate-links")(evaluate_links_cli)
app.command("card")(card_cli)
app.command("pairs")(pairs_cli)
app.command("export-pairs")(export_pairs_cli)
app.command("report")(report_cli)
app.command("mentions")(mentions_cli)
app.command("rerank")(rerank_cli)
app.command("cross-encoder")(cross_encoder_cli)
app.add_typer(tasks, name="tasks")


def main() -> None:
    """Run a stage; an error that the user can mend ends it with one message and status 1."""
    # Workers are forked after the tokenizer ran; they never tokenise.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("nmslib").setLevel(logging.WARNING)
    try:
        app()
    except BergamotError as error:
        typer.echo(f"✘ {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
