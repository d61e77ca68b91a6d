"""UMLS's Rich Release Format, written: rows by the names of their columns."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.rrf import COLUMNS
from spacy_bergamot.storage.files import atomic_file

Row = Mapping[str, str]

_SEPARATORS = re.compile(r"[|\r\n]")


def write_rrf(folder: Path, tables: Mapping[str, Iterable[Row]]) -> dict[str, int]:
    """Write tables as `folder`/TABLE.RRF, each of them whole or not at all; return rows of each.

    tables (Mapping[str, Iterable[Row]]): Rows of MRCONSO and its like, each a mapping from
        columns to values; a column that a row does not give is empty.
    RAISES (BergamotError): T360 for a value that RRF cannot hold.
    """
    counts = {}
    for table, rows in tables.items():
        path = folder / f"{table}.RRF"
        count = 0
        with atomic_file(path) as part, part.open("w", encoding="utf8", newline="\n") as stream:
            for count, row in enumerate(rows, 1):  # noqa: B007
                stream.write(rrf_line(table, row) + "\n")
        counts[table] = count
    return counts


def rrf_line(table: str, row: Row) -> str:
    """Return a row as a line without its end.

    table (str): Such as MRCONSO.
    row: Values by column.
    RAISES (BergamotError): T360, as `write_rrf`.
    """
    fields = [row.get(column, "") for column in COLUMNS[table].split()]
    broken = [value for value in fields if _SEPARATORS.search(value)]
    if broken:
        raise BergamotError(Errors.T360, table=table, value=broken[0], row=fields)
    return "|".join(fields) + "|"
