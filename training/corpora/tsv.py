"""Tab-separated tables with a header, as pandas writes them: a field may be quoted."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from training.corpora.builder import CorpusBuilder
from training.corpora.text import read_text
from training.errors import BergamotError, Errors


def columns_of(head: str) -> set[str]:
    """Return the columns that the beginning of a table names."""
    return set(head.partition("\n")[0].rstrip("\r").split("\t"))


def rows(
    path: Path, needed: Sequence[str], builder: CorpusBuilder
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield place and fields by column; a row with another number of fields is counted.

    RAISES (BergamotError): B057 naming the line where a quoted field has no end, T128 if a needed
        column is missing.
    """
    columns: list[str] = []
    table = csv.reader(_text(path), delimiter="\t")
    try:
        for fields in table:
            if not any(field.strip() for field in fields):
                continue
            place = f"{path}:{table.line_num}"
            if not columns:
                columns = [field.strip() for field in fields]
                missing = [name for name in needed if name not in columns]
                if missing:
                    raise BergamotError(Errors.T128, path=path, column=missing[0], columns=columns)
            elif len(fields) != len(columns):
                builder.skip("malformed line", place)
            else:
                yield place, dict(zip(columns, fields, strict=True))
    except csv.Error as reason:
        said = f"no table: {reason}"
        raise BergamotError(Errors.B057, path=path, line=table.line_num, reason=said) from None


def _text(path: Path) -> io.StringIO:
    return io.StringIO(read_text(path).removeprefix("\ufeff"), newline="")
