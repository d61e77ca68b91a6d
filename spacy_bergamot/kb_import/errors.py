"""Coded messages of reading a knowledge base."""

from spacy_bergamot.errors import BergamotError, Coded

__all__ = ["BergamotError", "Errors"]


class Errors(metaclass=Coded):
    """T1xx: knowledge bases in RRF, ontologies and tables. Codes are stable."""

    T101 = (
        "{path} is missing. Give the META folder of a knowledge base in RRF form; "
        "MRCONSO.RRF is needed, the other files are optional."
    )
    T102 = "{path} cannot be read: {reason}. Unpack or download the file again."
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
    T117 = "{path} does not exist. Give a file, or a folder of ontologies and tables."
    T118 = (
        "No name came from {path}: {files}. It reads OBO, OBO graphs (.json), Orphadata and "
        "ClaML (.xml), JSONL, icd10gm2025syst_kodes.txt and its like, and .tsv or .csv with a "
        "header of Babelon, SSSOM, ATC, or id and name; also packed."
    )
    T128 = "{path} has no column {column} in line 1; it has: {columns}. Correct the header."
    T158 = (
        "{path} declares the entity '{name}', and a few of them can fill the memory. Give the file "
        "without its DOCTYPE's declarations."
    )
    T205 = "The Python package '{package}' is not installed. Try: pip install {pip_name}"
    T238 = (
        "{path} unpacks to more than {most} MiB, so it is damaged or meant to fill the memory. "
        "Unpack it yourself if it is what it should be, and give the files."
    )
    T239 = "{path} cannot be read: {reason}. Give a file that you may read."
    T256 = "{path} is a folder where a file is wanted. Give one of the files in it."
    T301 = "{path} is missing. Preprocessing writes it; or correct the path."
    T304 = "{path} is not UTF-8: {reason}. Convert it to UTF-8."
    T360 = (
        "{table}: the value {value!r} has a bar or a line end, which RRF cannot hold, in the row "
        "{row}. Replace them before it is written."
    )
