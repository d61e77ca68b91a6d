"""How fast `bergamot_mentions` reads: with spaces, without, and where words are misspelt.

    python -m benchmarks.mention_speed [--names 200000] [--characters 100000 1000000] [--quick]

Names are invented, a third of them words with digits, a third words of letters, a third Han
characters; a document of each kind has a name in every fourth place. In that of letters, names have
a letter too many, and all other words are unknown too. The last line is JSON: by kind, characters
per second on one core (tokenisation not counted) for every length of document; and the mentions in
the longest.
"""

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.mentions import BergamotMentions
from spacy_bergamot.pipeline.build import write_names

SEPARATORS = {"latin": " ", "misspelt": " ", "han": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, default=200_000)
    parser.add_argument("--characters", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--quick", action="store_true", help="2,000 names, 100,000 characters")
    arguments = parser.parse_args()
    names, lengths = arguments.names, arguments.characters
    if arguments.quick:
        names, lengths = 2_000, [20_000, 100_000]
    nlp = spacy.blank("xx")
    known = {script: invented(script, names // 3) for script in SEPARATORS}
    matcher = initialised(nlp, [name for of in known.values() for name in of])
    matcher(nlp.make_doc("warm hypertenson 患者"))
    figures: dict[str, dict] = {"characters_per_s": {}, "mentions": {}}
    for script, of in known.items():
        for length in lengths:
            doc = document(nlp, script, of, length)
            start = time.process_time()
            found = matcher(doc)
            rate = round(length / (time.process_time() - start))
            print(f"{script:8} {length:>10,} characters {rate:>12,} a second", flush=True)
            figures["characters_per_s"].setdefault(script, {})[str(length)] = rate
            figures["mentions"][script] = len(found.ents)
    print(json.dumps(figures))


def invented(script: str, count: int) -> list[str]:
    """Return distinct names of one to four words, of one long word, or of Han characters."""
    draw = random.Random(script)
    return sorted({" ".join(name(script, draw)) for _ in range(count)})


def name(script: str, draw: random.Random) -> list[str]:
    if script == "han":
        return ["".join(chr(draw.randrange(0x4E00, 0x5600)) for _ in range(draw.randint(2, 8)))]
    if script == "misspelt":
        return ["".join(draw.choice("bdklmnrst") + draw.choice("aeiou") for _ in range(5))]
    return [
        f"{draw.choice('bdklmnrst')}a{draw.randrange(5000)}x" for _ in range(draw.randint(1, 4))
    ]


def initialised(nlp: Language, names: list[str]) -> BergamotMentions:
    """Return a matcher of names, each a concept of its own."""
    matcher = BergamotMentions(nlp.vocab)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "concepts"
        known = {f"C{number:07d}": [text] for number, text in enumerate(names)}
        write_names(path, known, language="xx")
        matcher.initialize(lambda: [], concepts=lambda: ConceptTable.open(path))
    return matcher


def document(nlp: Language, script: str, names: list[str], length: int) -> Doc:
    """Return a document of a length: a known name, then three that are most likely not."""
    draw, parts, size = random.Random(length), [], 0
    while size < length:
        part = draw.choice(names) if len(parts) % 4 == 0 else " ".join(name(script, draw))
        parts.append(f"{part[:5]}z{part[5:]}" if script == "misspelt" else part)
        size += len(parts[-1]) + len(SEPARATORS[script])
    return nlp.make_doc(SEPARATORS[script].join(parts)[:length])


if __name__ == "__main__":
    main()
