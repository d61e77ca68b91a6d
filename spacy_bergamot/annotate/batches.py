"""`AnnotateBatches`: the mentions of texts and their concepts, Arrow in and out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from spacy.language import Language
from spacy.tokens import Span

from spacy_bergamot.annotate.documents import link_documents, problem_of
from spacy_bergamot.annotate.errors import BergamotError, Errors
from spacy_bergamot.annotate.sources import Entry
from spacy_bergamot.kb.schemas import filled
from spacy_bergamot.linking.spans import is_linked, spans_of
from spacy_bergamot.output.assertions import attributes_of
from spacy_bergamot.pipeline.pipelines import import_code, linker_of, load_pipeline, memory_zone

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)

MENTIONS, ERROR = "mentions", "error"
MOST_ROWS, MOST_BYTES = 512, 1 << 20
"""Of texts that are linked together."""
_AT_ONCE = 128
_CANDIDATE = pa.struct(
    [
        *filled(concept_id=pa.string(), score=pa.float32()),
        pa.field("probability", pa.float32()),
        *(pa.field(name, pa.string()) for name in ("alias", "language", "source", "generator")),
    ]
)
_LOCK = RLock()  # a pipeline's memory zone is no thread's own


@dataclass(frozen=True)
class AnnotateBatches:
    """Adds the columns `mentions` and `error` to Arrow tables or record batches, row by row.

    It is what runs a pipeline inside Ray Data, Spark, Dask or DuckDB. It can be pickled: only these
    settings travel, and a process loads a pipeline once, at its first batch.

    `mentions` is a list of structs: start and end (in characters), text, label, concept_id (null
    for NIL), the concept's name, score, probability, attributes (such as "negated"), and candidates
    if asked for. A document that fails, or has no text, is a row with `error` and no mentions. The
    same rows give the same values, whatever was annotated before.

    pipeline (str): Installed package or folder.
    text_column (str): Strings.
    language_column (str | None): The documents' languages, as "de" or "GER"; null where not known.
    keep (Sequence[str] | None): Columns of the input to keep; None for all.
    candidates (bool): Every mention's candidates too.
    device (str | None): Of the language models; None for what the config says.
    code (str | None): Python file that registers the components of other packages.
    """

    pipeline: str
    text_column: str = "text"
    language_column: str | None = None
    keep: Sequence[str] | None = None
    candidates: bool = False
    device: str | None = None
    code: str | None = None

    def __call__(self, rows: Rows) -> Rows:
        """Return the columns to keep, `mentions` and `error`, a row for every row.

        RAISES (BergamotError): B102 or B170 for a table without these columns, B046, B047 or B120
            for a pipeline that cannot be loaded.
        """
        schema = self.schema(rows.schema)
        with _LOCK:
            nlp = self.load()
            found = [
                one
                for start, end in pieces(rows.column(self.text_column))
                for one in self._annotated(nlp, rows.slice(start, end - start))
            ]
        columns: list[Any] = [rows.column(name) for name in schema.names[:-2]]
        for name in (MENTIONS, ERROR):
            columns.append(pa.array([one[name] for one in found], schema.field(name).type))
        return type(rows).from_arrays(columns, schema=schema)

    def map(self, batches: Iterable[Rows]) -> Iterator[Rows]:
        """Annotate one batch after the other: what Spark's mapInArrow takes.

        batches (Iterable): Tables or record batches.
        """
        return map(self, batches)

    def schema(self, given: pa.Schema, *, name: str = "The table") -> pa.Schema:
        """Return the schema that rows of a schema get.

        given (pa.Schema): Of the rows.
        name (str): What errors call the table.
        RAISES (BergamotError): B102 for a column that is missing, B170 for one of another type, or
            of the name of one that is added.
        """
        keep = given.names if self.keep is None else self.keep
        texts = [self.text_column, *([self.language_column] if self.language_column else ())]
        for column in (*texts, *keep):
            if column not in given.names:
                reason = f"it has no column '{column}'"
                known = ", ".join(given.names) or "no columns"
                raise BergamotError(Errors.B102, path=name, reason=reason, known=known)
            if given.names.count(column) > 1:
                reason = "it is there more than once"
                raise BergamotError(Errors.B170, path=name, column=column, reason=reason)
        for column in texts:
            if not is_text(given.field(column).type):
                reason = f"it holds {given.field(column).type}, no text"
                raise BergamotError(Errors.B170, path=name, column=column, reason=reason)
        for column in (MENTIONS, ERROR):
            if column in keep:
                reason = "annotate adds one of that name"
                raise BergamotError(Errors.B170, path=name, column=column, reason=reason)
        return pa.schema([*map(given.field, keep), *self._added()])

    def load(self) -> Language:
        """Return the pipeline, which this process loads once."""
        return _loaded(self.pipeline, self.device, self.code)

    def _added(self) -> list[pa.Field]:
        fields = [
            *filled(start=pa.int32(), end=pa.int32(), text=pa.string(), label=pa.string()),
            pa.field("concept_id", pa.string()),
            pa.field("name", pa.string()),
            pa.field("score", pa.float32()),
            pa.field("probability", pa.float32()),
            pa.field("attributes", pa.list_(pa.string())),
        ]
        if self.candidates:
            fields.append(pa.field("candidates", pa.list_(_CANDIDATE)))
        return [pa.field(MENTIONS, pa.list_(pa.struct(fields))), pa.field(ERROR, pa.string())]

    def _annotated(self, nlp: Language, rows: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
        """Return mentions and error of rows; nothing of a Doc outlives the memory zone."""
        linker, _ = linker_of(nlp)
        linker.forget()
        with memory_zone(nlp):
            entries = self._entries(nlp, rows)
            docs = link_documents(nlp, entries, n_process=1, batch_size=_AT_ONCE)
            known, key = cache(linker.kb.name_and_types), linker.settings.spans_key
            return [
                {ERROR: problem, MENTIONS: []}
                if doc is None
                else {ERROR: None, MENTIONS: [self._mention(s, known) for s in spans_of(doc, key)]}
                for doc, _, problem in docs
            ]

    def _entries(self, nlp: Language, rows: pa.RecordBatch | pa.Table) -> Iterator[Entry]:
        texts = rows.column(self.text_column)
        languages = rows.column(self.language_column) if self.language_column else None
        for row in range(rows.num_rows):
            try:
                text = texts[row].as_py()
                language = languages[row].as_py() if languages is not None else None
            except UnicodeDecodeError as reason:  # Arrow does not look
                yield Entry(None, {}, f"no valid Unicode: {reason}")
                continue
            if text is None:
                yield Entry(None, {}, f"'{self.text_column}' holds no text")
            elif not language or problem_of(text, nlp.max_length):
                yield Entry(text, {})
            else:
                try:
                    doc = nlp.make_doc(text)
                    doc.user_data["language"] = language
                    yield Entry(doc, {})
                except Exception as reason:  # whatever a tokenizer raises
                    yield Entry(None, {}, f"{type(reason).__name__}: {reason}")

    def _mention(self, span: Span, known: Callable[[str], Any]) -> dict[str, Any]:
        found = span._.candidates or []
        concept = span.kb_id_ if is_linked(span) else None
        facts = known(concept) if concept is not None else None
        best: dict[str, Any] = next((one for one in found if one["concept_id"] == concept), {})
        values = {
            "start": span.start_char,
            "end": span.end_char,
            "text": span.text,
            "label": span.label_,
            "concept_id": concept,
            "name": facts[0] if facts else None,
            "score": best.get("score"),
            "probability": best.get("probability"),
            "attributes": attributes_of(span),
        }
        return {**values, "candidates": found} if self.candidates else values


def is_text(type_: pa.DataType) -> bool:
    """Tell whether a column of this type holds strings, or nothing at all.

    type_ (pa.DataType): Of a column.
    """
    if pa.types.is_dictionary(type_):
        return is_text(type_.value_type)
    view = getattr(pa.types, "is_string_view", lambda _: False)  # since pyarrow 16
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null, view)
    return any(kind(type_) for kind in kinds)


def pieces(texts: pa.Array | pa.ChunkedArray) -> Iterator[tuple[int, int]]:
    """Yield first row and end of texts that are linked together: not too many, not too long.

    They depend on nothing but the texts.
    """
    sizes = pc.fill_null(pc.binary_length(plain(texts)), 0)
    sums = np.cumsum(np.asarray(sizes))
    start = 0
    while start < len(sums):
        before = sums[start - 1] if start else 0
        end = int(np.searchsorted(sums, before + MOST_BYTES, side="right"))
        end = max(start + 1, min(end, start + MOST_ROWS))
        yield start, end
        start = end


def plain(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return strings of any type as large ones, which a column of any size fits into.

    texts (pa.Array | pa.ChunkedArray): Strings of any of Arrow's types.
    """
    return texts.cast(pa.large_string())


@cache
def _loaded(pipeline: str, device: str | None, code: str | None) -> Language:
    import_code(Path(code) if code is not None else None)
    nlp = load_pipeline(pipeline, device=device)
    linker_of(nlp)
    return nlp
