"""Documents of the command line: texts and DocBins in, JSON lines and other formats out."""

import json
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.exporters import to_bigbio, to_brat, to_dict, to_fhir, to_html
from spacy_bergamot.files import atomic_file
from spacy_bergamot.linker import BergamotLinker

Facts = dict[str, Any]


class Form(str, Enum):
    """How documents are written."""

    jsonl = "jsonl"
    brat = "brat"
    fhir = "fhir"
    bigbio = "bigbio"
    html = "html"


def read_documents(path: Path, vocab: Vocab) -> Iterator[tuple[str | Doc, Facts]]:
    """Yield text or document and what else is known of it. RAISES (BergamotError): B048, B049."""
    if not path.is_file():
        raise BergamotError(Errors.B001.format(path=path, remedy="Correct the path."))
    if path.suffix == ".spacy":
        for doc in read_docbin(path, vocab):
            yield doc, {}
        return
    for number, line in numbered_lines(path):
        if path.suffix != ".jsonl":
            yield line, {}
        elif line.strip():
            entry = parse_entry(path, number, line)
            yield entry.pop("text"), entry


def read_docbin(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the documents of a .spacy file. RAISES (BergamotError): B002 if it is none."""
    try:
        store = DocBin().from_disk(path)
    except Exception as reason:  # zlib, msgpack and KeyError, whatever breaks first
        message = Errors.B002.format(path=path, what="a DocBin", reason=repr(reason))
        raise BergamotError(message) from None
    yield from store.get_docs(vocab)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text and their numbers. RAISES (BergamotError): B049 if not UTF-8."""
    with path.open(encoding="utf8", newline="\n") as lines:
        try:
            for number, line in enumerate(lines, 1):
                yield number, line.rstrip("\r\n")
        except UnicodeDecodeError as reason:
            raise BergamotError(Errors.B049.format(path=path, reason=reason)) from None


def parse_entry(path: Path, number: int, line: str) -> Facts:
    """Return a JSON object that has a text. RAISES (BergamotError): B048 for anything else."""
    try:
        entry = json.loads(line)
        if not isinstance(entry["text"], str):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        message = Errors.B048.format(path=path, line=number, text=line[:80])
        raise BergamotError(message) from None
    return dict(entry)


def write_documents(
    docs: Iterable[tuple[Doc, Facts]],
    output: Path,
    form: Form | None,
    linker: BergamotLinker,
    *,
    candidates: bool = False,
    kb_url: str = "",
) -> None:
    """Write documents, whole or not at all; of BRAT each file by itself.

    form (Form | None): None is what the output's ending says, JSON lines for any but .html.
    """
    key = linker.settings.spans_key
    if form is None and output.suffix == ".html":
        form = Form.html
    if output.suffix == ".spacy":
        store = DocBin(store_user_data=True)
        for doc, _ in docs:
            store.add(doc)
        with atomic_file(output) as temporary:
            store.to_disk(temporary)
    elif form is Form.brat:
        output.mkdir(parents=True, exist_ok=True)
        for number, (doc, facts) in enumerate(docs):
            stem = output / str(facts.get("id", f"{number:08d}")).replace("/", "_")
            _write(stem.with_suffix(".txt"), doc.text)
            _write(stem.with_suffix(".ann"), to_brat(doc, spans_key=key))
    elif form is Form.html:
        page = to_html((doc for doc, _ in docs), spans_key=key, kb_url=kb_url, kb=linker.kb)
        _write(output, page)
    else:
        with atomic_file(output) as temporary, temporary.open("w", encoding="utf8") as lines:
            for number, (doc, facts) in enumerate(docs):
                entry = to_dict(doc, spans_key=key, candidates=candidates)
                if form is Form.fhir:
                    entry = {"text": doc.text, "codes": to_fhir(doc, linker.kb, spans_key=key)}
                elif form is Form.bigbio:
                    entry = to_bigbio(doc, str(facts.get("id", number)), spans_key=key)
                _line(lines, {**facts, **entry})


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf8", newline="\n")


def _line(lines: TextIO, entry: Facts) -> None:
    lines.write(json.dumps(entry, ensure_ascii=False) + "\n")
