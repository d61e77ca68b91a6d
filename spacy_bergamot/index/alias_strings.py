"""The distinct aliases of a concept table in normal form, and what an index keeps of them."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.hashing import string_keys
from spacy_bergamot.index.engines import Vectors
from spacy_bergamot.index.language_bias import LanguageBias
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.arrow_files import write_arrow
from spacy_bergamot.text import has_letters, normalize

_CHUNK = 1 << 16


def index_strings(table: ConceptTable) -> tuple[pa.Array, pa.Array, np.ndarray]:
    """Return the distinct normal forms of a table's aliases, and which alias has which.

    table (ConceptTable): The knowledge base.
    RETURNS (tuple): The normal forms, sorted; and of the aliases that have letters or digits the
        normal forms, and their rows (int32).
    RAISES (BergamotError): B023 if there are none.
    """
    column = table.aliases.column("alias")
    normal = pa.concat_arrays(
        [
            pa.array([normalize(text) for text in chunk.to_pylist()], type=pa.large_string())
            for start in range(0, len(column), _CHUNK)
            for chunk in column.slice(start, _CHUNK).chunks
        ]
        or [pa.array([], type=pa.large_string())]
    )
    named = pa.array([has_letters(text.as_py()) for text in normal], type=pa.bool_())
    rows = np.flatnonzero(named.to_numpy(zero_copy_only=False)).astype(np.int32)
    if not len(rows):
        raise BergamotError(Errors.B023, path=table.path)
    kept = normal.take(pa.array(rows))
    return kept.unique().sort(), kept, rows


def write_strings(folder: Path, table: ConceptTable) -> pa.Array:
    """Write distinct normal forms, postings and keys; return the normal forms.

    folder (Path): Of the index.
    table (ConceptTable): The knowledge base.
    """
    strings, kept, rows = index_strings(table)
    ids = pa.compute.index_in(kept, strings).to_numpy()
    order = np.argsort(ids, kind="stable")
    indptr = np.searchsorted(ids[order], np.arange(len(strings) + 1)).astype(np.int64)
    keys = string_keys(text.as_py() for text in strings)
    by_key = np.argsort(keys, kind="stable")
    write_arrow(folder / "strings.arrow", pa.table({"string": strings}))
    np.save(folder / "postings_indptr.npy", indptr)
    np.save(folder / "postings.npy", rows[order])
    np.save(folder / "keys.npy", keys[by_key])
    np.save(folder / "key_rows.npy", by_key.astype(np.int32))
    return strings


def save_languages(
    folder: Path, vectors: Vectors, table: ConceptTable, string_vectors: np.ndarray
) -> None:
    """Save the means of the vectors of every language's names.

    folder (Path): Of the index.
    vectors (Vectors): Of the distinct names, (v, d).
    table (ConceptTable): The knowledge base.
    string_vectors (int (s,)): Row of every normal form's vector.
    """
    indptr, postings = (np.load(folder / f"{n}.npy") for n in ("postings_indptr", "postings"))
    languages = table.column("aliases", "language")
    codes, count = languages.indices.to_numpy(zero_copy_only=True), len(languages.dictionary)
    owners = np.repeat(string_vectors, np.diff(indptr)).astype(np.int64)
    pairs = np.unique(owners * count + codes[postings])
    LanguageBias.save(folder, vectors, pairs // count, pairs % count, languages=count)
