"""Coded messages of reading a knowledge base."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors"]


class Errors(errors.Errors):
    """T1xx: knowledge bases in RRF, ontologies and tables. The codes of the package as well."""

    T102 = "{path} cannot be read: {reason}. Correct the path, or unpack or download it again."
    T103 = (
        "{path} has {malformed} malformed lines of {read} ({share:.2%}, allowed {allowed:.2%}):\n"
        "{lines}\nMend or download the file again, or allow more with --max-malformed."
    )
    T104 = (
        "No concept of {path} is left after the filters (dropped: {dropped}). "
        "Loosen --languages, --sources, --term-types or the semantic types."
    )
    T110 = "No row of {path} has {what} {value}. It has: {choices}. Correct or drop the filter."
    T114 = "There are over {most} distinct values of {what}. Is that column what it should be?"
    T116 = (
        "{path} cannot be read as {what}: {reason}. Save a table of yours as UTF-8; "
        "mend or download others again."
    )
    T118 = (
        "No name came from {path}: {files}. It reads OBO, OBO graphs (.json), Orphadata and "
        "ClaML (.xml), JSONL, icd10gm2025syst_kodes.txt and its like, and .tsv or .csv with a "
        "header of Babelon, SSSOM, ATC, or id and name; also packed."
    )
    T128 = "{path} has no column {column}; it has: {columns}. Correct the header."
    T158 = (
        "{path} declares the entity '{name}', and a few of them can fill the memory. Give the file "
        "without its DOCTYPE's declarations."
    )
    T238 = (
        "{path} unpacks to more than {most} MiB, so it is damaged or meant to fill the memory. "
        "Unpack it yourself if it is what it should be, and give the files."
    )
    T360 = (
        "{table}: the value {value!r} has a bar or a line end, which RRF cannot hold, in the row "
        "{row}. Replace them before it is written."
    )
    T470 = (
        "{path} is a release in RRF, which is not merged with other files. Give it alone, or "
        "instead of it the ontologies and tables that it was made of."
    )
