"""Tab-separated tables with a header."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from training.corpora.builder import CorpusBuilder
from training.corpora.text import numbered
from training.errors import BergamotError, Errors


def rows(
    path: Path, needed: Sequence[str], builder: CorpusBuilder
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield place and fields by column; a row with another number of fields is counted.

    RAISES (BergamotError): T128 if a needed column is missing.
    """
    columns: list[str] = []
    for number, line in numbered(path):
        fields = line.split("\t")
        if not columns:
            columns = [field.strip() for field in fields]
            missing = [name for name in needed if name not in columns]
            if missing:
                message = Errors.T128.format(path=path, column=missing[0], columns=columns)
                raise BergamotError(message)
        elif len(fields) != len(columns):
            builder.skip("malformed line", f"{path}:{number}")
        else:
            yield f"{path}:{number}", dict(zip(columns, fields, strict=True))
