"""Files to read, and what was read as plain Python."""

from pathlib import Path
from typing import Any

from training.corpora.schema import DOCUMENTS, MENTIONS, Corpus

PUBTATOR = """1|t|Breast and ovarian cancer
1|a|A fever; HBOC.
1\t0\t25\tBreast and ovarian cancer\tCompositeMention\tD001943|D010051
1\t0\t6\tBreast\tT023\tUMLS:C0006141
1\t28\t33\tfever\tSign\t-1
1\t35\t39\tHBOC\tDisease\tD1+D2
1\t36\t40\tHBOC\tDisease\tD1
1\t90\t94\tHBOC\tDisease\tD1
1\t28\t33\tfever\tSign\t-1
1\tCID\tD1\tD2
1\tx

2|t|Fever and cough
2|a|
2\t0\t15\tFever and cough\tDisease\tD5|D6\tFever|cough

2|t|Another text
2|a|
3\t0\t3\tabc\tDisease\tD9
"""
BRAT_TEXT = "fever and\nsweat of night"


def rows(corpus: Corpus) -> list[dict[str, Any]]:
    assert corpus.mentions.schema == MENTIONS
    assert corpus.documents.schema == DOCUMENTS
    texts = {row["document"]: row["text"] for row in corpus.documents.to_pylist()}
    found = corpus.mentions.to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    for row in found:
        spans = list(zip(row["starts"], row["ends"], strict=True))
        if spans:
            pieces = " ".join(texts[row["document"]][start:end] for start, end in spans)
            assert " ".join(pieces.split()).casefold() == row["mention"].casefold()
            start, end = min(row["starts"]), max(row["ends"])
            assert row["context"] == texts[row["document"]][max(0, start - 200) : end + 200]
    return found


def golds(corpus: Corpus) -> list[tuple[str, list[str], bool]]:
    return [(row["mention"], row["concepts"], row["all_of"]) for row in rows(corpus)]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
