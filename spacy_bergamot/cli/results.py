"""Linked documents out, in the form that the output's ending or --format says."""

import errno
import gzip
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

import srsly
import typer
from spacy.tokens import Doc, DocBin

from spacy_bergamot.annotate.documents import Linked
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.output.exporters import to_bigbio, to_brat, to_dict, to_fhir, to_html
from spacy_bergamot.output.fhir import without_system
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.storage.files import atomic_file, atomic_folder, write_text

STDOUT = Path("-")
_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_LONGEST_NAME = 100
INDEX = "index.jsonl"


class Form(str, Enum):
    """How documents are written."""

    jsonl = "jsonl"
    brat = "brat"
    fhir = "fhir"
    bigbio = "bigbio"
    html = "html"
    spacy = "spacy"


ENDINGS = {
    Form.jsonl: _LINES,
    Form.fhir: _LINES,
    Form.bigbio: _LINES,
    Form.html: (".html", ".htm"),
    Form.spacy: (".spacy",),
}
"""What an output ends in; BRAT files go into a folder of any name."""


def form_of(output: Path, form: Form | None) -> Form:
    """Return the form that an output's ending says, and look whether it can be written.

    output (Path): File, folder, or - for stdout.
    form (Form | None): The form asked for; None for what the ending says.
    RAISES (BergamotError): B103 if the ending says another form or none, B101 if something stands
        there that is not to be replaced, B007 if its folder cannot be made.
    """
    if output == STDOUT and form in (None, Form.jsonl, Form.fhir, Form.bigbio):
        return form or Form.jsonl
    name = output.name.lower()
    if form is None:
        said = (each for each in ENDINGS if name.endswith(ENDINGS[each]))
        form = next(said, None)
    if form is None or (form in ENDINGS and not name.endswith(ENDINGS[form])):
        every = dict.fromkeys(ending for endings in ENDINGS.values() for ending in endings)
        endings = ENDINGS[form] if form else (*every, "any folder with --format brat")
        what = form.value if form else "documents"
        raise BergamotError(Errors.B103, form=what, path=output, endings=", ".join(endings))
    if form is Form.brat:
        prepare_folder(output)
        if output.is_dir() and any(output.iterdir()):
            raise BergamotError(Errors.B101, path=output, reason="is not empty")
    elif output.is_dir():
        raise BergamotError(Errors.B101, path=output, reason="is a folder")
    make_parent(output)
    return form


def prepare_folder(output: Path) -> None:
    """Make the folder that a folder goes into; look whether that can be made, before the work is.

    output (Path): The folder that is to be written.
    RAISES (BergamotError): B101 if a file stands there, B007 if its folder cannot be made.
    """
    if output.exists() and not output.is_dir():
        raise BergamotError(Errors.B101, path=output, reason="is a file, no folder")
    make_parent(output)


def make_parent(output: Path) -> None:
    """Make the folder that an output goes into.

    output (Path): File or folder that is to be written.
    RAISES (BergamotError): B007 if that fails.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(output.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as reason:
        raise BergamotError(Errors.B007, path=output, reason=reason.strerror) from None


@dataclass(frozen=True)
class Results:
    """What documents are written as.

    output (Path): File; folder of BRAT files; - for stdout.
    form (Form): See `form_of`.
    linker (BergamotLinker): Says where mentions are and what concepts are called.
    candidates (bool): JSONL has every mention's candidates.
    kb_url (str): Of links in HTML.
    systems (dict[str, str] | None): FHIR's system URI by vocabulary.
    knowledge_base (str | None): Vocabulary of ids that do not say theirs.
    """

    output: Path
    form: Form
    linker: BergamotLinker
    candidates: bool = False
    kb_url: str = ""
    systems: dict[str, str] | None = None
    knowledge_base: str | None = None

    def write(self, docs: Iterable[Linked]) -> None:
        """Write documents, all or none.

        JSONL has a row with "error" for what failed, and the index of BRAT files too; other forms
        have no place for it and leave it out.

        docs (Iterable[Linked]): Documents, in order.
        """
        {
            Form.jsonl: self._jsonl,
            Form.fhir: self._fhir,
            Form.bigbio: self._bigbio,
            Form.brat: self._brat,
            Form.html: self._html,
            Form.spacy: self._docbin,
        }[self.form](docs)

    @property
    def _key(self) -> str | None:
        return self.linker.settings.spans_key

    def _jsonl(self, docs: Iterable[Linked]) -> None:
        options: Any = {"candidates": self.candidates, "kb": self.linker.kb}
        before = None
        with _lines(self.output) as line:
            for doc, facts, problem in docs:
                if doc is None:
                    line({**facts, "error": problem})
                    continue
                entry = to_dict(doc, spans_key=self._key, **options)
                if entry.get("bergamot") == before:  # said once, and again where it changes
                    entry.pop("bergamot", None)
                else:
                    before = entry.get("bergamot", before)
                line({**facts, **entry})

    def _fhir(self, docs: Iterable[Linked]) -> None:
        options: Any = {"systems": self.systems, "knowledge_base": self.knowledge_base}
        unknown = 0
        with _lines(self.output) as line:
            for number, (doc, facts, _) in enumerate(docs):
                if doc is not None:
                    options |= {"document_id": str(facts.get("id", number)), "spans_key": self._key}
                    resource = to_fhir(doc, self.linker.kb, **options)
                    unknown += without_system(resource)
                    line(resource)
        if unknown:
            hint = "give it by --system NAME=URI, and the NAME by --knowledge-base"
            typer.echo(f"{unknown} concepts have no system: {hint}", err=True)

    def _bigbio(self, docs: Iterable[Linked]) -> None:
        options: Any = {"knowledge_base": self.knowledge_base, "kb": self.linker.kb}
        with _lines(self.output) as line:
            for number, (doc, facts, _) in enumerate(docs):
                if doc is not None:
                    options |= {"spans_key": self._key, "unique_id": str(number)}
                    line(to_bigbio(doc, str(facts.get("id", number)), **options))

    def _brat(self, docs: Iterable[Linked]) -> None:
        taken: set[str] = set()
        with atomic_folder(self.output) as folder, _lines(folder / INDEX) as line:
            for number, (doc, facts, problem) in enumerate(docs):
                if doc is None:
                    line({**facts, "error": problem})
                    continue
                name = file_name(str(facts.get("id", f"{number:08d}")), taken)
                options: Any = {"spans_key": self._key, "knowledge_base": self.knowledge_base}
                for ending, text in ((".txt", doc.text), (".ann", to_brat(doc, **options))):
                    (folder / f"{name}{ending}").write_text(text, encoding="utf8", newline="\n")
                line({**facts, "file": f"{name}.txt"})

    def _html(self, docs: Iterable[Linked]) -> None:
        def titled() -> Iterator[Any]:
            for doc, facts, _ in docs:
                if doc is not None:
                    if "id" in facts:
                        doc.user_data.setdefault("title", str(facts["id"]))
                    yield doc

        page = to_html(titled(), spans_key=self._key, kb_url=self.kb_url, kb=self.linker.kb)
        write_text(self.output, page)

    def _docbin(self, docs: Iterable[Linked]) -> None:
        store = DocBin(store_user_data=True)
        left_out: set[str] = set()
        for doc, facts, _ in docs:
            if doc is not None:
                if "id" in facts:
                    doc.user_data["id"] = facts["id"]
                left_out |= forget_unsaved(doc)
                store.add(doc)
        with atomic_file(self.output) as temporary:
            store.to_disk(temporary)
        if left_out:
            names = ", ".join(sorted(left_out))
            typer.echo(f"Left out of the documents, as no file can hold it: {names}", err=True)


def forget_unsaved(doc: Doc) -> set[str]:
    """Remove what of a document's user data no file can hold, such as a graph of its spans.

    doc (Doc): The document; it is changed.
    RETURNS (set[str]): Its keys; of an extension's values, the extension's name.
    """
    if _is_plain(doc.user_data):
        return set()
    keys = [key for key, value in doc.user_data.items() if not _is_plain({key: value})]
    for key in keys:
        del doc.user_data[key]
    return {key[1] if isinstance(key, tuple) and key[0] == "._." else str(key) for key in keys}


def _is_plain(values: Any) -> bool:
    try:
        srsly.msgpack_dumps(values)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def file_name(identifier: str, taken: set[str]) -> str:
    """Return a file name for a document, without ending, that no other has; add it to `taken`.

    Letters, digits, `.`, `-` and `_` of the id stay. Names that a file system may take for one
    (upper and lower case, composed and decomposed letters) are told apart by a number.

    identifier (str): The document's id.
    taken (set[str]): Names before, in the form that they are compared in.
    """
    plain = re.sub(r"[^\w.-]", "_", identifier.removesuffix(".txt")).lstrip(".")
    while len(plain.encode("utf8", "replace")) > _LONGEST_NAME:
        plain = plain[:-1]
    plain = plain.encode("utf8", "replace").decode("utf8") or "document"
    name, number = plain, 1
    while (key := unicodedata.normalize("NFC", name).casefold()) in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(key)
    return name


@contextmanager
def _lines(output: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield what writes a line of JSON to a file, gzipped if its ending says so, or to stdout."""

    def write(stream: TextIO, entry: dict[str, Any]) -> None:
        stream.write(json.dumps(entry, ensure_ascii=False, default=str) + "\n")

    # A lone surrogate is written as \udcff, which is what JSON has for it.
    options: Any = {"encoding": "utf8", "errors": "backslashreplace", "newline": "\n"}
    if output == STDOUT:
        sys.stdout.reconfigure(**options)  # type: ignore[union-attr]
        yield lambda entry: write(sys.stdout, entry)
        return
    with atomic_file(output) as temporary:
        opened = gzip.open if output.suffix == ".gz" else open
        with opened(temporary, "wt", **options) as stream:
            yield lambda entry: write(stream, entry)
