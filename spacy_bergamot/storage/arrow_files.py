"""Tables in Arrow IPC files that are mapped into memory."""

from pathlib import Path

import pyarrow as pa

from spacy_bergamot.errors import BergamotError, Errors


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write a table as one uncompressed record batch, so that it maps without a copy.

    path (Path): The file.
    table (pyarrow.Table): In chunks or not.
    """
    table = table.unify_dictionaries().combine_chunks()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_arrow(path: Path) -> pa.Table:
    """Memory-map an Arrow IPC file.

    path (Path): The file.
    RAISES (BergamotError): If it is missing or no Arrow file.
    """
    try:
        return pa.ipc.open_file(pa.memory_map(str(path), "r")).read_all()
    except FileNotFoundError:
        remedy = "Rebuild the folder that it belongs to."
        raise BergamotError(Errors.B001, path=path, remedy=remedy) from None
    except pa.ArrowInvalid as reason:
        raise BergamotError(Errors.B002, path=path, what="Arrow", reason=reason) from None
