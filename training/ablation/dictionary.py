"""A smaller dictionary, where the whole one would be encoded too often."""

import zlib
from collections.abc import Sequence
from pathlib import Path

from spacy_bergamot.storage.files import atomic_file
from training.corpora.dictionary import read_dictionary
from training.corpora.queries import gold_mentions, read_queries


def cut_dictionary(dictionary: Path, sets: Sequence[Path], output: Path, *, names: int) -> Path:
    """Write the names of the sets' gold concepts, and of others by chance until there are `names`.

    A cut dictionary makes every figure better than the whole one would: compare within it alone.
    """
    gold = {
        concept
        for path in sets
        for q in gold_mentions(read_queries(path))
        for concept in q.concepts
    }
    entries = read_dictionary(dictionary)

    def rank(ids: str) -> tuple[bool, int]:
        return not gold & set(ids.split("|")), zlib.crc32(ids.encode())

    entries.sort(key=lambda entry: rank(entry[0]))
    kept = sum(not rank(ids)[0] for ids, _ in entries)
    with atomic_file(output) as path:
        lines = (f"{ids}||{name}\n" for ids, name in entries[: max(names, kept)])
        path.write_text("".join(lines), encoding="utf8")
    return output
