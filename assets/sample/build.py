"""Compile the sources of the sample into UMLS tables and a gold standard.

    python assets/sample/build.py [--source DIR] [--out DIR] [--check] [--allow-dangling]

Writes META/*.RRF and gold/ under the output folder. Everything or, if the sources have a problem,
nothing is written.
"""

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from _rrf import build_tables
from _source import NIL, Sentence, Source, read_source
from _umls import read_semantic_types

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run the command line; return the exit status."""
    args = _parse_args()
    semantic_types = read_semantic_types(
        HERE.parents[1] / "spacy_bergamot/kb_import/semantic_types.tsv"
    )
    source = read_source(args.source, semantic_types, allow_dangling=args.allow_dangling)
    if source.problems:
        print(*source.problems, sep="\n", file=sys.stderr)
        print(f"{len(source.problems)} problems, nothing written", file=sys.stderr)
        return 1
    tables = build_tables(source.concepts, semantic_types)
    contents = {f"META/{name}": table for name, table in tables.items()}
    contents |= build_gold(source.sentences)
    if args.check:
        return check(contents, args.out)
    write(contents, args.out)
    print(*summary(source, tables), sep="\n")
    return 0


def _parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compile the sources of the sample into UMLS tables and a gold standard."
    )
    parser.add_argument(
        "--source", type=Path, default=HERE / "source", help="folder of concepts_*.txt, gold_*.txt"
    )
    parser.add_argument("--out", type=Path, default=HERE, help="folder of META/ and gold/")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, fail if the output is out of date"
    )
    parser.add_argument(
        "--allow-dangling", action="store_true", help="drop relations to unknown concepts"
    )
    return parser.parse_args()


def build_gold(sentences: list[Sentence]) -> dict[str, str]:
    """Return the content of the gold files: JSON lines with offsets, and `CUI||mention` lines."""
    numbers: Counter[str] = Counter()
    documents, queries = [], []
    for sentence in sorted(sentences, key=lambda each: each.language):
        numbers[sentence.language] += 1
        document = {
            "id": f"{sentence.language}-{numbers[sentence.language]:03d}",
            "language": sentence.language,
            "text": sentence.text,
            "entities": [mention._asdict() for mention in sentence.mentions],
        }
        documents.append(json.dumps(document, ensure_ascii=False) + "\n")
        queries += [
            f"{mention.concept_id}||{mention.text}\n"
            for mention in sentence.mentions
            if mention.concept_id != NIL
        ]
    return {"gold/gold.jsonl": "".join(documents), "gold/queries.txt": "".join(queries)}


def check(contents: Mapping[str, str], folder: Path) -> int:
    """Compare the files of a folder with what they should contain; return the exit status."""
    stale = [
        name
        for name, content in contents.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content.encode()
    ]
    for name in stale:
        print(f"{name}: missing or not what the sources give", file=sys.stderr)
    if not stale:
        print(f"{len(contents)} files are what the sources give")
    return 1 if stale else 0


def write(contents: Mapping[str, str], folder: Path) -> None:
    """Write every file under a temporary name, and only then put all in place."""
    written: list[tuple[Path, Path]] = []
    try:
        for name, content in contents.items():
            path = folder / name
            temporary = path.with_name(path.name + ".part")
            written.append((temporary, path))
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(content.encode())
        for temporary, path in written:
            os.replace(temporary, path)
    finally:
        for temporary, _ in written:
            temporary.unlink(missing_ok=True)


def summary(source: Source, tables: Mapping[str, str]) -> list[str]:
    """Return lines of counts."""
    names: Counter[str] = Counter()
    concepts_of: defaultdict[str, set[str]] = defaultdict(set)
    abbreviations = 0
    for concept in source.concepts.values():
        for language, known in concept.names.items():
            names[language] += len(known)
            abbreviations += sum(name.is_abbreviation for name in known)
            for name in known:
                concepts_of[name.text.lower()].add(concept.cui)
    mentions = [mention for sentence in source.sentences for mention in sentence.mentions]
    counts = {
        "concepts": len(source.concepts),
        "names": names.total(),
        **{f"names {language}": count for language, count in sorted(names.items())},
        "relations": sum(len(concept.links) for concept in source.concepts.values()),
        "relation rows": tables["MRREL.RRF"].count("\n"),
        "dropped relations": source.dropped_links,
        "sentences": len(source.sentences),
        "mentions": len(mentions),
        "NIL": sum(mention.concept_id == NIL for mention in mentions),
        "ambiguous surface forms": sum(len(cuis) > 1 for cuis in concepts_of.values()),
        "abbreviations": abbreviations,
    }
    return [f"{label:<24}{count:>7}" for label, count in counts.items()]


if __name__ == "__main__":
    sys.exit(main())
