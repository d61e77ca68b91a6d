"""QuickUMLS on the same names and documents, run by its own Python.

    PYTHON benchmarks/quickumls_side.py META DOCUMENTS.jsonl FOLDER LANGUAGE

META has MRCONSO.RRF and MRSTY.RRF; FOLDER keeps the index. Neither spaCy's models nor NLTK's stop
words are on PyPI: documents are read by spaCy's tokenizer for the language alone, with spaCy's stop
words. The last line is JSON: of QuickUMLS as it comes, and of its stricter settings, cpu_s and
links, [start, end, CUI] by document.
"""

import json
import sys
import time
from argparse import Namespace
from pathlib import Path

import nltk.corpus
import spacy
from quickumls import QuickUMLS, constants, install

SETTINGS = {
    "QuickUMLS, as it comes": {"overlapping_criteria": "score", "threshold": 0.7},
    "QuickUMLS, stricter": {"overlapping_criteria": "length", "threshold": 0.9},
}


def main() -> None:
    meta, documents, folder = map(Path, sys.argv[1:4])
    language = sys.argv[4]
    short = constants.SPACY_LANGUAGE_MAP[language].partition("_")[0]
    build(meta, folder, language)
    nlp = spacy.blank(short)
    stop_words = sorted(nlp.Defaults.stop_words)
    nltk.corpus.stopwords = Namespace(words=lambda *_: stop_words)
    texts = [json.loads(line)["text"] for line in documents.read_text("utf8").splitlines()]
    report = {}
    for name, settings in SETTINGS.items():
        matcher = QuickUMLS(str(folder), accepted_semtypes=None, spacy_component=True, **settings)
        start = time.process_time()
        found = [matcher._match(nlp(text)) for text in texts]
        report[name] = {
            "cpu_s": time.process_time() - start,
            "links": [[(m["start"], m["end"], m["cui"]) for m, *_ in of] for of in found],
        }
    print(json.dumps(report))


def build(meta: Path, folder: Path, language: str) -> None:
    """Make the index as QuickUMLS's installer does, in lower case and ASCII."""
    if (folder / "database_backend.flag").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    options = Namespace(lowercase=True, normalize_unicode=True, language=language)
    names = install.extract_from_mrconso(meta / "MRCONSO.RRF", meta / "MRSTY.RRF", options)
    install.parse_and_encode_ngrams(
        names, str(folder / "umls-simstring.db"), str(folder / "cui-semtypes.db"), "unqlite"
    )
    for flag in ("lowercase.flag", "normalize-unicode.flag"):
        (folder / flag).touch()
    (folder / "language.flag").write_text(language)
    (folder / "database_backend.flag").write_text("unqlite")


if __name__ == "__main__":
    main()
