"""Write gold.jsonl, with the places of mentions, and queries.txt from marked sentences.

    python -m assets.sample.gold [FOLDER]

FOLDER, or else `gold` beside this file, has sentences.tsv: language and sentence, in which mentions
are marked as [their text|CUI], or [their text|NIL] where no concept of the sample fits.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

from training.corpora.marked import unmarked

HERE = Path(__file__).resolve().parent
NIL = "NIL"


def main(folder: Path) -> None:
    """Write both files; a line that cannot be read, or an unknown concept, is an error."""
    with (HERE / "source/concepts.csv").open(encoding="utf8", newline="") as stream:
        known = {row["id"] for row in csv.DictReader(stream)} | {NIL}
    numbers: Counter[str] = Counter()
    documents = []
    lines = (folder / "sentences.tsv").read_text(encoding="utf8").splitlines()
    for number, line in enumerate(lines, 1):
        language, _, marked = line.partition("\t")
        text, marks = unmarked(marked)
        entities = [
            {
                "start": mark.start,
                "end": mark.end,
                "text": text[mark.start : mark.end],
                "concept_id": "|".join(mark.concepts),
            }
            for mark in marks
        ]
        unknown = {entity["concept_id"] for entity in entities} - known
        if not text or unknown or set(text) & set("[]|"):
            sys.exit(f"sentences.tsv:{number}: {', '.join(unknown) or 'not readable'}: {line}")
        documents.append({"id": "", "language": language, "text": text, "entities": entities})
    documents.sort(key=lambda document: document["language"])
    for document in documents:
        numbers[document["language"]] += 1
        document["id"] = f"{document['language']}-{numbers[document['language']]:03d}"
    queries = [
        f"{entity['concept_id']}||{entity['text']}"
        for document in documents
        for entity in document["entities"]
        if entity["concept_id"] != NIL
    ]
    gold = [json.dumps(document, ensure_ascii=False) for document in documents]
    for name, rows in (("gold.jsonl", gold), ("queries.txt", queries)):
        text = "".join(f"{row}\n" for row in rows)
        (folder / name).write_text(text, encoding="utf8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "gold")
