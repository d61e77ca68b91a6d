"""Everyday words that folding takes for the name of a disorder: lungs are no pneumonia.

    python -m benchmarks.everyday_words CORPUS/kb WORDS [--show 20]

WORDS is a folder of LANG.txt (GER.txt), one word per line, such as the commonest words that the
package wordfreq has:

    pip install wordfreq
    python -c "import wordfreq; print(*wordfreq.top_n_list('de', 40000), sep='\\n')" > WORDS/GER.txt

A word counts if it is no name of the knowledge base as it stands, and has the folded form of a
one-word name of the semantic group DISO in its language. Many of these are inflected names, and
right; `--show` prints them. The last line is JSON: by language `words` and `folded`.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from spacy_bergamot.folding import fold_word
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.languages import lat
from spacy_bergamot.name_keys import CAPITALS, LEAST, folded_name, keyed
from spacy_bergamot.scripts import letters
from spacy_bergamot.text import normalize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("words", type=Path)
    parser.add_argument("--show", type=int, default=0, help="words printed per language")
    arguments = parser.parse_args()
    files = {lat(path.stem): path for path in sorted(arguments.words.glob("*.txt"))}
    written, folded = names(ConceptTable.open(arguments.kb), set(files))
    results = {}
    for language, path in files.items():
        words = dict.fromkeys(map(normalize, path.read_text("utf8").split()))
        found = {
            word: folded[language][form]
            for word in words
            if word not in written[language]
            and (form := fold_word(word, language)) in folded[language]
            and letters(form) >= LEAST
        }
        results[language] = {"words": len(words), "folded": len(found)}
        shown = [f"{word} ({name})" for word, name in found.items()][: arguments.show]
        print(language, len(words), len(found), ", ".join(shown))
    print("all", sum(of["words"] for of in results.values()), total(results))
    print(json.dumps(results))


def total(results: dict[str, dict[str, int]]) -> int:
    return sum(of["folded"] for of in results.values())


def names(
    table: ConceptTable, languages: set[str]
) -> tuple[dict[str, set[str]], dict[str, dict[str, str]]]:
    """Return names by language as they stand, and one-word disorders by folded form."""
    groups = table.types.column("group").to_pylist()
    of_types = zip(table.keys("types").tolist(), groups, strict=True)
    disorders = {concept for concept, group in of_types if group == "DISO"}
    written: dict[str, set[str]] = defaultdict(set)
    folded: dict[str, dict[str, str]] = defaultdict(dict)
    concepts = table.keys("aliases").tolist()
    rows = (table.column("aliases", name).to_pylist() for name in ("alias", "language"))
    for alias, code, concept in zip(*rows, concepts, strict=True):
        language = lat(code)
        if language not in languages:
            continue
        written[language].add(normalize(alias))
        words = folded_name(alias, language)
        if concept in disorders and len(words) == 1 and not keyed(alias).startswith(CAPITALS):
            folded[language].setdefault(words[0].folded, alias)
    return written, folded


if __name__ == "__main__":
    main()
