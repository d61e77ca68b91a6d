"""Documents of a corpus by a list of their ids, as shared tasks and MedMentions publish splits."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from training.corpora.schema import Corpus
from training.corpora.text import numbered
from training.errors import BergamotError, Errors


def select_documents(corpus: Corpus, path: Path) -> Corpus:
    """Return the documents and mentions whose document is in a list.

    corpus (Corpus): All of them.
    path (Path): The list, such as corpus_pubtator_pmids_trng.txt of MedMentions: one id per line; a
        document in folders is also known by the last part of its name.
    RAISES (BergamotError): T130 if the corpus has none of them, T102 and B049 for a file that
        cannot be read.
    """
    ids = {line.strip() for _, line in numbered(path)}
    names = {
        name
        for table in (corpus.documents, corpus.mentions)
        for name in pc.unique(table["document"]).to_pylist()
    }
    kept = {name for name in names if name in ids or name.rpartition("/")[2] in ids}
    if not kept:
        raise BergamotError(Errors.T130, path=path, corpus=corpus.name)
    found = ids & (kept | {name.rpartition("/")[2] for name in kept})
    counts = {"listed": len(ids), "documents": len(kept), "not in the corpus": len(ids - found)}
    return replace(
        corpus,
        documents=_of(corpus.documents, kept),
        mentions=_of(corpus.mentions, kept),
        facts={**corpus.facts, "split": {"file": path.name, **counts}},
    )


def _of(table: pa.Table, names: set[str]) -> pa.Table:
    column = table["document"]
    return table.filter(pc.is_in(column, pa.array(sorted(names), column.type)))
