"""`python -m training corpus`: a published gold corpus into the project's one shape."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.kb.concept_table import ConceptTable
from training.corpora.mapping import map_concepts
from training.corpora.registry import FORMS, read_corpus
from training.corpora.schema import Corpus
from training.corpora.spacy_files import write_docbin
from training.corpora.splits import select_documents


def corpus_cli(
    path: Annotated[Path, typer.Argument(help="File or folder of the corpus")],
    output: Annotated[Path, typer.Argument(help="Folder for its documents and mentions")],
    form: Annotated[
        str | None, typer.Option(help=f"Found out where not given: {', '.join(FORMS)}")
    ] = None,
    language: Annotated[
        str, typer.Option(help="Of what does not say its own, such as FRE or fr")
    ] = "",
    ids: Annotated[
        Path | None, typer.Option(help="Ids of the documents to take, a line each: a split")
    ] = None,
    concepts: Annotated[
        Path | None, typer.Option(help="Concept table whose ids gold ids are mapped to")
    ] = None,
    vocabulary: Annotated[
        str, typer.Option(help="Of gold ids without a prefix, such as MSH or SNOMEDCT_US")
    ] = "",
    codes: Annotated[
        Path | None, typer.Option(help="code<tab>concept lines beside the table's own codes")
    ] = None,
    mrcui: Annotated[Path | None, typer.Option(help="MRCUI.RRF, for retired CUIs")] = None,
    related: Annotated[
        bool, typer.Option("--related", help="Follow retired CUIs to related ones too")
    ] = False,
    spacy: Annotated[Path | None, typer.Option(help="DocBin (.spacy) to write as well")] = None,
    spacy_dev: Annotated[Path | None, typer.Option(help="DocBin for a share of them")] = None,
    dev_share: Annotated[float, typer.Option(min=0, max=1, help="That share")] = 0.2,
    label: Annotated[
        str | None, typer.Option(help="One label for spaCy's entities instead of their types")
    ] = None,
) -> None:
    """Read a gold corpus, count what it has and lacks, and write it as Arrow and for spaCy."""
    corpus = read_corpus(path, form, language)
    if ids is not None:
        corpus = select_documents(corpus, ids)
    table = None if concepts is None else ConceptTable.open(concepts)
    if table is not None:
        corpus, _ = map_concepts(
            corpus, table, vocabulary=vocabulary, codes=codes, mrcui=mrcui, related=related
        )
    corpus.write(output)
    typer.echo(render(corpus))
    if spacy is not None:
        counts = write_docbin(
            corpus, spacy, dev=spacy_dev, share=dev_share, label=label, concepts=table
        )
        typer.echo(f"spaCy: {counts}")


def render(corpus: Corpus) -> str:
    """Return a summary: what was read, what was left out and why, and how ids were mapped."""
    mentions = corpus.mentions
    golds = mentions["concepts"].to_pylist()
    languages = Counter(mentions["language"].to_pylist())
    gaps = sum(len(starts) > 1 for starts in mentions["starts"].to_pylist())
    lines = {
        "documents": str(corpus.documents.num_rows),
        "mentions": f"{len(golds)} ({_listed(languages)})",
        "without an id": str(sum(not ids for ids in golds)),
        "composite": str(sum(mentions["all_of"].to_pylist())),
        "discontinuous": str(gaps),
        "distinct ids": str(len({value for ids in golds for value in ids})),
        "left out": _listed(corpus.skipped) or "nothing",
    }
    if "split" in corpus.facts:
        counts = {name: n for name, n in corpus.facts["split"].items() if name != "file"}
        lines["split"] = _listed(counts)
    if "mapping" in corpus.facts:
        lines["ids"] = _listed(corpus.facts["mapping"])
    return "\n".join(f"{name:14} {value}" for name, value in lines.items())


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
