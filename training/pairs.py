"""`python -m training pairs`: training sets from pair files, bitext and annotated mentions."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.text import normalize
from training.corpora.dictionary import read_dictionary
from training.corpora.queries import gold_mentions, read_queries
from training.errors import BergamotError, Errors
from training.preprocess import pair_files
from training.preprocess.pair_files import Line
from training.preprocess.training_set import TrainingSet

Files = list[Path] | None


def pairs_cli(
    output: Annotated[Path, typer.Argument(help="Training set folder to write")],
    pairs: Annotated[Files, typer.Option(help="class||name||name lines; may be repeated")] = None,
    bitext: Annotated[Files, typer.Option(help="Tab-separated translations; repeatable")] = None,
    mentions: Annotated[
        Files, typer.Option(help="Annotated mentions in any form that `evaluate` reads; repeatable")
    ] = None,
    dictionary: Annotated[
        Path | None, typer.Option(help="CUI||name lines: the names that mentions are paired with")
    ] = None,
) -> None:
    """Make a training set of pairs alone; several sources are mixed.

    Train on it with `--paths.training_set`, from a base model or from an LM trained before.
    """
    if not (pairs or bitext or mentions):
        options = "--pairs, --bitext or --mentions"
        raise BergamotError(Errors.T113, what="A training set", needed="pairs", option=options)
    manifest = pair_files.write_pair_set(output, _all_lines(pairs, bitext, mentions, dictionary))
    typer.echo(f"{manifest['pairs']} pairs of {manifest['names']} names: {output}")


def export_pairs_cli(
    training_set: Annotated[Path, typer.Argument(help="Training set, such as corpus/train")],
    output: Annotated[Path, typer.Argument(help="File for class||name||name lines")],
    kb: Annotated[
        Path | None, typer.Option(help="Concept table, such as corpus/kb: classes are its ids")
    ] = None,
) -> None:
    """Write a training set's pairs in SapBERT's exchange format."""
    ids = None
    if kb is not None:
        ids = ConceptTable.open(kb, checksums=False).concepts.column("concept_id").combine_chunks()
    count = pair_files.write_pairs(output, TrainingSet.open(training_set), ids)
    typer.echo(f"{count} pairs: {output}")


def _all_lines(
    pairs: Files, bitext: Files, mentions: Files, dictionary: Path | None
) -> Iterator[Line]:
    for path in pairs or []:
        yield from _some(pair_files.read_pairs(path), path)
    for path in bitext or []:
        yield from _some(pair_files.read_bitext(path), path)
    if mentions:
        if dictionary is None:
            needed = "the names that mentions are paired with"
            raise BergamotError(
                Errors.T113, what="--mentions", needed=needed, option="--dictionary"
            )
        names: dict[str, list[str]] = defaultdict(list)
        for concept_ids, name in read_dictionary(dictionary):
            for concept_id in concept_ids.split("|"):
                names[concept_id].append(name)
        for path in mentions:
            queries = gold_mentions(read_queries(path))
            found = [(query.mention, cui) for query in queries for cui in sorted(query.concepts)]
            yield from pair_files.read_mentions(found, names)


def _some(lines: Iterator[Line], path: Path) -> Iterator[Line]:
    """Yield the lines of a file. RAISES (BergamotError): T296 if none of them makes a pair."""
    found = False
    for line in lines:
        found = found or normalize(line[1]) != normalize(line[2])
        yield line
    if not found:
        what, remedy = "line with two different names, so no pair", "Correct or leave out the file."
        raise BergamotError(Errors.T296, path=path, what=what, remedy=remedy)
