"""How well mentions are found and linked in a gold corpus, and how fast, system by system.

    python -m benchmarks.mentions PIPELINE CORPUS [--groups DISO] [--form pubtator] [--language ENG]
        [--vocabulary MSH] [--codes FILE] [--finder NAME ...] [--quickumls PYTHON] [--errors 40]

PIPELINE has bergamot_mentions and bergamot_linker. CORPUS is what `python -m training corpus` reads
or wrote; its ids are mapped to the pipeline's concepts. Found are names as they stand (exact), and
as each setting of bergamot_mentions that may be off adds to them. --finder names other pipelines
whose entities stand instead, such as one with an NER of yours or of scispaCy. Whoever found them,
PIPELINE links the mentions, but QuickUMLS's (run by the Python of an environment that has it, on
the same names): these have the concepts that it says. --groups are the semantic groups that the
corpus is annotated with; the others' names are not looked for. --errors lists the mentions of every
system that are wrong most often.

Words are the pipeline's tokens, a second of CPU time for finding alone. The last line is JSON:
documents, mentions, cores, threads, and by system words_per_s and the scores of
`training.evaluate.spans`: strict_mention, partial_mention, strict, partial, by language.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.rrf_writer import write_rrf
from spacy_bergamot.mentions import Place, exact_spans
from spacy_bergamot.pipeline.pipelines import FACTORY, load_pipeline
from training.corpora.mapping import map_concepts
from training.corpora.registry import FORMS, read_corpus
from training.corpora.schema import Corpus
from training.evaluate.documents import Linked, linked, read_documents
from training.evaluate.spans import Link, score_documents

OPTIONAL = ("folded", "tolerant", "abbreviations", "usual_abbreviations")
"""Settings of bergamot_mentions that may be off, in the order in which they are put on."""
MEASURES = {"strict_mention": "mentions", "partial_mention": "overlapping", "strict": "links"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--groups", nargs="*", default=[])
    parser.add_argument("--form", choices=FORMS)
    parser.add_argument("--language", default="")
    parser.add_argument("--vocabulary", default="")
    parser.add_argument("--codes", type=Path)
    parser.add_argument("--finder", nargs="*", default=[])
    parser.add_argument("--quickumls", type=Path, help="Python with QuickUMLS")
    parser.add_argument("--errors", type=int, default=0)
    arguments = parser.parse_args()
    nlp = load_pipeline(arguments.pipeline)
    golds = gold_documents(arguments, component(nlp, FACTORY).kb)
    texts = [document.text for document in golds]
    words = sum(len(nlp.make_doc(text)) for text in texts)
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    print(
        f"{len(golds)} documents, {words} words; {os.cpu_count()} cores, OMP_NUM_THREADS {threads}"
    )
    print(heading())
    report: dict[str, Any] = {}
    for name, guesses, seconds in systems(nlp, texts, golds, arguments):
        found, gold = ([document.links for document in side] for side in (guesses, golds))
        scores = score_documents(found, gold, [document.language for document in golds])
        report[name] = {"words_per_s": round(words / seconds), **scores}
        print(row(name, report[name]), flush=True)
        print_errors(guesses, golds, arguments.errors)
    totals = {"documents": len(golds), "mentions": scores["strict_mention"]["n"]}
    print(json.dumps({**totals, "cores": os.cpu_count(), "threads": threads, "systems": report}))


def gold_documents(arguments: argparse.Namespace, kb: KnowledgeBase) -> list[Linked]:
    """Return the corpus with the knowledge base's concepts."""
    path: Path = arguments.corpus
    if (path / "mentions.arrow").is_file():
        corpus = Corpus.open(path)
    else:
        corpus = read_corpus(path, arguments.form, arguments.language)
    corpus, counts = map_concepts(
        corpus, kb.table, vocabulary=arguments.vocabulary, codes=arguments.codes
    )
    print(f"Gold ids: {', '.join(f'{count} {what}' for what, count in counts.items())}")
    with tempfile.TemporaryDirectory() as folder:
        corpus.write(Path(folder) / "corpus")
        return read_documents(Path(folder) / "corpus")


def systems(
    nlp: Language, texts: Sequence[str], golds: Sequence[Linked], arguments: argparse.Namespace
) -> Iterator[tuple[str, list[Linked], float]]:
    """Yield name, linked documents and seconds of finding of every system."""
    linker, mentions = component(nlp, FACTORY), component(nlp, "bergamot_mentions")
    for count in range(len(OPTIONAL) + 1):
        wanted = {name: OPTIONAL.index(name) < count for name in OPTIONAL}
        mentions.settings = replace(mentions.settings, groups=arguments.groups, **wanted)
        docs, seconds = timed(lambda text: mentions(nlp.make_doc(text)), texts)
        name = f"+ {OPTIONAL[count - 1]}" if count else "exact"
        yield name, [linked(doc) for doc in linker.pipe(docs)], seconds
    for name in arguments.finder:
        try:
            finder = load_pipeline(name)
        except BergamotError as reason:
            print(f"{name}: left out. {reason}")
            continue
        linkers = [p for p in finder.pipe_names if finder.get_pipe_meta(p).factory == FACTORY]
        with finder.select_pipes(disable=linkers):
            docs, seconds = timed(finder, texts)
        docs = [entities_of(doc, nlp, arguments.groups) for doc in docs]
        yield name, [linked(doc) for doc in linker.pipe(docs)], seconds
    if arguments.quickumls:
        yield from quickumls(arguments, linker.kb.table, golds)


def timed(find: Callable[[str], Doc], texts: Sequence[str]) -> tuple[list[Doc], float]:
    """Return the documents that a system makes of texts, and its CPU time in seconds."""
    find(texts[0])
    start = time.process_time()
    docs = [find(text) for text in texts]
    return docs, time.process_time() - start


def entities_of(doc: Doc, nlp: Language, groups: Sequence[str]) -> Doc:
    """Return a document of a pipeline with another's entities, but those of other groups."""
    others = {each.group for each in semantic_types()} - set(groups) if groups else set()
    places = [
        Place(ent.start_char, ent.end_char, ent.label_)
        for ent in doc.ents
        if ent.label_ not in others
    ]
    made, spans = exact_spans(nlp.make_doc(doc.text), places)
    made.set_ents(filter_spans([span for span in spans if span is not None]))
    return made


def component(nlp: Language, factory: str) -> Any:
    """Return the pipeline's component of a factory."""
    found = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == factory]
    return nlp.get_pipe(found[0]) if found else sys.exit(f"The pipeline has no {factory}.")


def quickumls(
    arguments: argparse.Namespace, table: ConceptTable, golds: Sequence[Linked]
) -> Iterator[tuple[str, list[Linked], float]]:
    """Yield what QuickUMLS finds, by its settings, with names in the first document's language."""
    script = Path(__file__).with_name("quickumls_side.py")
    with tempfile.TemporaryDirectory() as name:
        folder, language = Path(name), golds[0].language
        write_release(folder, table, language, arguments.groups)
        lines = (json.dumps({"text": document.text}) + "\n" for document in golds)
        (folder / "documents.jsonl").write_text("".join(lines), encoding="utf8")
        command = [arguments.quickumls, script, folder, folder / "documents.jsonl"]
        environment = {key: of for key, of in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [*command, folder / "index", language],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
    if done.returncode:
        print(f"QuickUMLS: left out. {done.stderr.strip().rpartition(chr(10))[2]}")
        return
    for name, row in json.loads(done.stdout.splitlines()[-1]).items():
        links = [[Link(*link) for link in of] for of in row["links"]]
        guesses = [
            document._replace(links=of, labels=[""] * len(of))
            for document, of in zip(golds, links, strict=True)
        ]
        yield name, guesses, row["cpu_s"]


def write_release(folder: Path, table: ConceptTable, language: str, groups: Sequence[str]) -> None:
    """Write the names in a language of the concepts of some groups, or of all, as RRF files."""
    group_of = {}
    for entry in table.types.to_pylist():  # the last one is the one that mentions are labelled with
        group_of[entry["concept"]] = entry["type"], entry["group"]
    names = (
        {"CUI": table.concept_id(entry["concept"]), "LAT": language, "STR": entry["alias"]}
        for entry in table.aliases.to_pylist()
        if entry["language"] == language
        and (group_of.get(entry["concept"], ("", ""))[1] in groups or not groups)
    )
    types = (
        {"CUI": table.concept_id(row), "TUI": group_of.get(row, ("T000", ""))[0]}
        for row in range(len(table))
    )
    write_rrf(folder, {"MRCONSO": names, "MRSTY": types})


def heading() -> str:
    """Return the table's first two lines."""
    over = "".join(f"{name:^36}" for name in MEASURES.values())
    under = "".join(f"{'P':>6}{'R':>6}{'F1 (95 %)':>22}  " for _ in MEASURES)
    return f"{'':24}{'':>9}  {over}\n{'':24}{'words/s':>9}  {under}"


def row(name: str, figures: dict[str, Any]) -> str:
    """Return a system's line."""
    cells = ""
    for measure in MEASURES:
        rates = figures[measure]
        bounds = f"({rates['f_low'] or 0:.1f}-{rates['f_high'] or 0:.1f})"
        cells += f"{rates['p']:6.1f}{rates['r']:6.1f}{rates['f']:8.1f} {bounds:13}  "
    return f"{Path(name).name[:23]:24}{figures['words_per_s']:>9,}  {cells}"


def print_errors(guesses: Sequence[Linked], golds: Sequence[Linked], most: int) -> None:
    """Print the texts that are marked most often where there is nothing, and those missed."""
    for title, sides in {
        "marked, nothing there": (guesses, golds),
        "missed": (golds, guesses),
    }.items():
        counts: Counter[str] = Counter()
        for one, other in zip(*sides, strict=True):
            counts.update(alone(one, other))
        listed = ", ".join(f"{text} {count}" for text, count in counts.most_common(most))
        if most:
            print(f"    {title} ({counts.total()}): {listed}")


def alone(one: Linked, other: Linked) -> Iterator[str]:
    """Yield the texts of a side's mentions that share no character with the other's."""
    places = {link[:2] for link in other.links}
    for start, end in sorted({link[:2] for link in one.links}):
        if not any(min(end, stop) > max(start, begin) for begin, stop in places):
            yield " ".join(one.text[start:end].split())


if __name__ == "__main__":
    main()
