"""Sets of gold mentions to ask for, each of corpora that are reported apart.

- `CUI||mention` lines (SapBERT), a corpus a file; a third field is the context.
- gold sentences in JSON lines, a corpus a language; a `.concept` folder.
- a corpus that `python -m training corpus` wrote.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.languages import NAMES
from spacy_bergamot.text_files import numbered_lines
from training.corpora.registry import read_corpus
from training.corpora.schema import DOCUMENTS, MENTIONS, Corpus, GoldMention
from training.corpora.term_lists import parse_line
from training.errors import BergamotError, Errors

NIL = "NIL"

logger = logging.getLogger(__name__)


def read_queries(path: Path, *, nil: bool = False) -> list[Corpus]:
    """Read one set: a `.txt`, a `.jsonl` of gold sentences, a `.concept` folder or a corpus.

    nil (bool): Keep mentions that are annotated as NIL; otherwise they are skipped and counted.
    RAISES (BergamotError): T296 for a folder without any of them, B001 and B049 for a file that
        cannot be read, and as `read_corpus` and `Corpus.open` do.
    """
    corpora = _read_folder(path) if path.is_dir() else _read_file(path)
    return corpora if nil else [_linked(corpus) for corpus in corpora]


def gold_mentions(corpora: Iterable[Corpus]) -> list[GoldMention]:
    """Return the mentions of some corpora."""
    return [mention for corpus in corpora for mention in corpus.rows()]


def skipped(corpora: Iterable[Corpus]) -> dict[str, int]:
    """Return what was left out of some corpora, by reason."""
    counts: Counter[str] = Counter()
    for corpus in corpora:
        counts.update(corpus.skipped)
    return dict(counts)


def _read_folder(path: Path) -> list[Corpus]:
    if (path / "mentions.arrow").is_file():
        return [Corpus.open(path)]
    if any(path.glob("*.concept")):
        return [read_corpus(path, "concept")]
    files = sorted(path.glob("*.txt"))
    if not files:
        remedy = "Give a folder of gold annotations."
        raise BergamotError(Errors.T296, path=path, what=".concept or .txt file", remedy=remedy)
    return [_read_lines(file) for file in files]


def _read_file(path: Path) -> list[Corpus]:
    if path.suffix == ".jsonl":
        return _by_language(read_corpus(path, "gold"))
    return [_read_lines(path)]


def _by_language(corpus: Corpus) -> list[Corpus]:
    """Return the corpora of the languages; what was skipped is counted in the first."""
    languages = pc.unique(corpus.mentions["language"]).to_pylist()
    parts = [
        replace(
            corpus,
            name=language,
            documents=corpus.documents.filter(pc.field("language") == language),
            mentions=corpus.mentions.filter(pc.field("language") == language),
            skipped={} if number else corpus.skipped,
        )
        for number, language in enumerate(languages)
    ]
    return parts or [corpus]


def _linked(corpus: Corpus) -> Corpus:
    """Return the corpus without its NIL mentions, which are counted."""
    linked = pc.greater(pc.list_value_length(corpus.mentions["concepts"]), 0)
    count = corpus.mentions.num_rows - pc.sum(linked, min_count=0).as_py()
    if not count:
        return corpus
    kept = corpus.mentions.filter(linked)
    return replace(corpus, mentions=kept, skipped={**corpus.skipped, NIL: count})


def _read_lines(path: Path) -> Corpus:
    """Read `CUI||mention` lines; a file called as a language of MRCONSO.RRF is in that language.

    Mentions stay as they are written: a protocol compares them as the papers do.
    """
    language = path.stem if path.stem in NAMES else ""
    left_out: Counter[str] = Counter()
    mentions: list[dict[str, Any]] = []
    for number, line in numbered_lines(path):
        entry = parse_line(line)
        if entry is None or not entry.mention.strip():
            if not left_out:
                logger.warning("Skipping, malformed line: %s:%d (and its like)", path, number)
            left_out["malformed line"] += 1
            continue
        concepts = sorted(set(entry.ids) - {"", NIL})
        mentions.append(
            {
                "id": f"{path.stem}#{len(mentions) + 1}",
                "document": "",
                "language": language,
                "mention": entry.mention,
                "starts": [],
                "ends": [],
                "context": entry.context,
                "type": "",
                "concepts": concepts,
                "all_of": entry.all_of and len(concepts) > 1,
            }
        )
    table = pa.Table.from_pylist(mentions, schema=MENTIONS)
    return Corpus(path.stem, DOCUMENTS.empty_table(), table, dict(left_out))
