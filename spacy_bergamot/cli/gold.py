"""Mentions whose concepts are known, of files of several kinds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.pipeline import EntityLinker
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_bergamot.annotate.sources import docs_of, parse_entry
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.languages import NAMES, lat
from spacy_bergamot.mentions import Place, exact_spans
from spacy_bergamot.pipeline.held_out import Name
from spacy_bergamot.pipeline.pipelines import linker_of
from spacy_bergamot.text_files import numbered_lines


def read_names(gold: Path) -> list[Name]:
    """Read the gold concepts and names of `CUI||mention` files.

    gold (Path): A file, or a folder of .txt.
    RAISES (BergamotError): B057 for a line that is something else.
    """
    files = sorted(gold.glob("*.txt")) if gold.is_dir() else [gold]
    return [name for path in files for name in _read_queries(path)]


def _read_queries(path: Path) -> Iterator[Name]:
    """Yield gold concepts and mention; several are joined by a bar, NIL is none.

    A file that is called as a language, GER.txt or de.txt, has names of that language.
    """
    language = lat(path.stem) if lat(path.stem) in NAMES else ""
    for number, line in numbered_lines(path):
        concepts, bars, mention = line.partition("||")
        mention = mention.partition("||")[0]
        if not bars or not mention.strip():
            reason = f"no CUI||mention: {line[:80]}"
            raise BergamotError(Errors.B057, path=path, line=number, reason=reason)
        gold = frozenset(concepts.replace("+", "|").split("|")) - {EntityLinker.NIL, ""}
        yield Name(gold, mention, language)


def as_mention(nlp: Language, mention: str, spans_key: str | None, language: str = "") -> Doc:
    """Return a document that is one mention.

    nlp (Language): The pipeline.
    mention (str): Its text.
    spans_key (str | None): The group of spans that it is put in; `doc.ents` where there is none.
    language (str): Of the text; empty if unknown.
    """
    doc = nlp.make_doc(mention)
    if language:
        doc.user_data["language"] = language
    span = Span(doc, 0, len(doc), label="MENTION")
    if spans_key is None:
        doc.ents = [span]
    else:
        doc.spans[spans_key] = [span]
    return doc


def read_examples(path: Path, nlp: Language) -> Iterator[Example]:
    """Yield examples of a DocBin, or of JSON lines with entities.

    path (Path): A .spacy or .jsonl file.
    nlp (Language): A pipeline with a linker.
    RAISES (BergamotError): B057 for a line that is something else.
    """
    if path.suffix == ".spacy":
        for doc in docs_of(path, nlp.vocab):
            yield Example(doc, doc)
        return
    linker, _ = linker_of(nlp)
    for number, line in numbered_lines(path):
        entry = parse_entry(path, number, line)
        try:
            places = [_place(entity) for entity in entry["entities"]]
            doc, found = exact_spans(nlp.make_doc(entry["text"]), places)
            spans = [span for span in found if span is not None]
            if len(spans) < len(found):
                outside = entry["entities"][found.index(None)]
                raise ValueError(f"{outside} lies outside the text")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            reason = f"{reason}: {line[:80]}"
            raise BergamotError(Errors.B057, path=path, line=number, reason=reason) from None
        if linker.settings.spans_key is None:
            doc.ents = spacy.util.filter_spans(spans)
        else:
            doc.spans[linker.settings.spans_key] = spans
        yield Example(doc, doc)


def _place(entity: dict[str, Any]) -> Place:
    """Return where a gold mention is.

    RAISES (KeyError, TypeError): If it does not say so.
    """
    start, end = entity["start"], entity["end"]
    if not (isinstance(start, int) and isinstance(end, int)):
        raise TypeError("start and end must be integers")
    kb_id = entity["concept_id"] or EntityLinker.NIL
    return Place(start, end, entity.get("label", "MENTION"), kb_id)
