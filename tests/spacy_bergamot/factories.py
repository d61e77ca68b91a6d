"""What tests of several rooms make: marked documents, generator configs, changes, command lines."""

import json
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from typer.testing import CliRunner, Result

from spacy_bergamot.cli import bergamot
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.loaders import concept_table

EXACT = {"@misc": "spacy_bergamot.ExactGenerator.v1"}
LEXICAL = {"@misc": "spacy_bergamot.LexicalGenerator.v1"}
FOLDED = {"@misc": "spacy_bergamot.FoldedGenerator.v1"}
DENSE = {"@misc": "spacy_bergamot.DenseGenerator.v1"}
NEW = {"name": "Long COVID", "types": ["T047"], "definition": "It lasts."}
"""What a concept is given that the knowledge base does not have."""


def mark(nlp: Language, text: str, *mentions: str, label: str = "X") -> Doc:
    """Return a document whose entities are the first places of some mentions."""
    doc = nlp.make_doc(text)
    starts = [text.index(mention) for mention in mentions]
    doc.ents = [
        doc.char_span(start, start + len(mention), label=label)
        for start, mention in zip(starts, mentions, strict=True)
    ]
    return doc


def mentions(nlp: Language, text: str) -> list[tuple[str, str]]:
    """Return text and label of the entities that a pipeline finds, and see that the text stays."""
    doc = nlp(text)
    assert doc.text == text
    return [(ent.text, ent.label_) for ent in doc.ents]


def matcher_of(concepts: Path, lang: str = "xx", **config: object) -> Language:
    """Return a pipeline that marks the names of a concept table, with given settings."""
    nlp = spacy.blank(lang)
    pipe = nlp.add_pipe("bergamot_mentions", config=config)
    pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(concepts)))
    return nlp


def found(linker: BergamotLinker, mention: str) -> list[dict[str, Any]]:
    """Return the candidates of a mention by itself."""
    doc = spacy.blank("xx").make_doc(mention)
    doc.ents = [Span(doc, 0, len(doc), label="X")]
    return linker(doc).ents[0]._.candidates


def ensemble(*, folded: bool = False, **settings: object) -> dict[str, Any]:
    """Return the config of an ensemble of exact, lexical and dense, and folded if asked for."""
    parts = {"exact": EXACT, "lexical": LEXICAL, "dense": DENSE}
    if folded:
        parts["folded"] = FOLDED
    return {"@misc": "spacy_bergamot.EnsembleGenerator.v1", "generators": parts, **settings}


def candidate(concept_id: str, score: float, **facts: Any) -> Candidate:
    """Return a candidate that the language model found by its alias "x"."""
    given = {"alias": "x", "language": "ENG", "source": "S", "generator": "dense"}
    return Candidate(concept_id, score, **{**given, **facts})


def add(concept_id: str, alias: str, **facts: object) -> dict[str, Any]:
    """Return a change that adds an alias."""
    given = {"concept_id": concept_id, "alias": alias, "language": "ENG", "source": "LOCAL"}
    return {"action": "add", **given, **facts}


def remove(concept_id: str, alias: str | None = None) -> dict[str, Any]:
    """Return a change that removes an alias, or a concept."""
    return {"action": "remove", "concept_id": concept_id, "alias": alias}


def invoke(*arguments: object, status: int = 0, **options: Any) -> Result:
    """Run `python -m spacy bergamot` and see that it ends with a status."""
    result = CliRunner().invoke(bergamot, [str(argument) for argument in arguments], **options)
    assert result.exit_code == status, result.output
    return result


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    """Write a JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    return path
