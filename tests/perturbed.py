"""Gold sentences whose mentions were changed by one rule, and how many are found all the same.

    python -m tests.perturbed [--missed] [--seed 0]

prints by kind of change and language the recall of changed mentions, of those that are found as
they stand, and the precision of what is found; a mention is right if it shares a character with a
gold one. The dictionary is the sample's, without a language model.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import spacy

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.mentions import BergamotMentions
from tests.inflections import inflected

NLP = spacy.blank("xx")
SAMPLE = Path(__file__).parents[1] / "assets/sample"
LEAST = 6
"""Letters of a word that may be misspelt: shorter ones become others."""

Span = tuple[int, int]


class Sentence(NamedTuple):
    """A sentence with its mentions (characters), and which of them were changed."""

    language: str
    text: str
    mentions: list[Span]
    changed: list[bool]


class Counts(NamedTuple):
    """Changed mentions, of these those that are found, mentions found, and of these right ones."""

    changed: int
    recalled: int
    found: int
    right: int

    @property
    def recall(self) -> float:
        """Share of the changed mentions that are found; 1 if none was changed."""
        return self.recalled / self.changed if self.changed else 1.0

    @property
    def precision(self) -> float:
        """Share of what is found that shares a character with a gold mention."""
        return self.right / self.found if self.found else 1.0


def gold_sentences() -> list[Sentence]:
    """Return the sample's gold sentences, unchanged."""
    lines = (SAMPLE / "gold/gold.jsonl").read_text(encoding="utf8").splitlines()
    return [
        Sentence(
            record["language"],
            record["text"],
            [(entity["start"], entity["end"]) for entity in record["entities"]],
            [True] * len(record["entities"]),
        )
        for record in map(json.loads, lines)
    ]


def perturbed(sentence: Sentence, kind: str, seed: int = 0) -> Sentence:
    """Return a sentence whose mentions were changed, each once; what has no rule stays."""
    change, text, mentions, changed = CHANGES[kind], "", [], []
    end = 0
    for start, stop in sentence.mentions:
        mention = sentence.text[start:stop]
        draw = random.Random(f"{seed} {mention}")
        other = change(mention, sentence.language, draw)
        text += sentence.text[end:start]
        mentions.append((len(text), len(text) + len(other)))
        changed.append(other != mention or kind == "unchanged")
        text, end = text + other, stop
    return Sentence(sentence.language, text + sentence.text[end:], mentions, changed)


def misspelt(mention: str, language: str, draw: random.Random) -> str:
    """Swap two letters of a long word, drop one or double one; the first and last stay."""
    words = mention.split(" ")
    long = [n for n, word in enumerate(words) if len(word) >= LEAST and word.isalpha()]
    if not long or language in ("CHI", "JPN", "KOR"):
        return mention
    number = draw.choice(long)
    word = words[number]
    at = draw.choice([n for n in range(1, len(word) - 2) if word[n] != word[n + 1]])
    words[number] = draw.choice([
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
    ])  # fmt: skip
    return " ".join(words)


def reordered(mention: str, language: str, draw: random.Random) -> str:
    """Put the first word last, or a hyphen between two words."""
    words = mention.split(" ")
    if len(words) == 1 or "'" in mention:
        return mention
    if draw.random() < 0.5:
        return " ".join([*words[1:], words[0]])
    at = draw.randrange(1, len(words))
    return " ".join(words[:at]) + "-" + " ".join(words[at:])


CHANGES: dict[str, Callable[[str, str, random.Random], str]] = {
    "unchanged": lambda mention, language, draw: mention,
    "inflected": lambda mention, language, draw: inflected(mention, language),
    "misspelt": misspelt,
    "reordered": reordered,
}


def dictionary(folder: Path) -> BergamotMentions:
    """Return a matcher of the names of the sample's release; its table goes into a folder."""
    build_concept_table(SAMPLE / "META", folder / "concepts", filters=Filters())
    matcher = BergamotMentions(NLP.vocab)
    matcher.initialize(lambda: [], concepts=lambda: ConceptTable.open(folder / "concepts"))
    return matcher


def spans_found(matcher: BergamotMentions, sentence: Sentence) -> list[Span]:
    """Return the mentions of a sentence whose language is said."""
    doc = NLP.make_doc(sentence.text)
    doc.user_data["language"] = sentence.language
    return [(ent.start_char, ent.end_char) for ent in matcher(doc).ents]


def counted(
    matcher: BergamotMentions, sentences: list[Sentence], kind: str, seed: int = 0
) -> tuple[dict[str, Counts], list[str]]:
    """Return counts by language of the sentences changed by a kind, and the mentions missed.

    A mention that is not found as it stands says nothing of a change, and is left out of
    `changed` and `recalled`.
    """
    totals: dict[str, list[Counts]] = {}
    missed = []
    for sentence in sentences:
        before, other = spans_found(matcher, sentence), perturbed(sentence, kind, seed)
        after = spans_found(matcher, other)
        asked = [
            new
            for old, new, changed in zip(
                sentence.mentions, other.mentions, other.changed, strict=True
            )
            if changed and (kind == "unchanged" or _touches(old, before))
        ]
        lost = [span for span in asked if not _touches(span, after)]
        missed += [f"{sentence.language} {other.text[slice(*span)]}" for span in lost]
        right = sum(_touches(span, other.mentions) for span in after)
        counts = Counts(len(asked), len(asked) - len(lost), len(after), right)
        totals.setdefault(sentence.language, []).append(counts)
    summed = {
        language: Counts(*map(sum, zip(*counts, strict=True)))
        for language, counts in sorted(totals.items())
    }
    return summed, missed


def _touches(span: Span, others: list[Span]) -> bool:
    return any(min(span[1], end) > max(span[0], start) for start, end in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missed", action="store_true", help="list the mentions that are missed")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        matcher = dictionary(Path(folder))
        for kind in CHANGES:
            counts, missed = counted(matcher, gold_sentences(), kind, arguments.seed)
            print(kind)
            for language, of in counts.items():
                print(
                    f"  {language}  recall {of.recall:.2f} of {of.changed:>3}"
                    f"  precision {of.precision:.2f} of {of.found:>3}"
                )
            if arguments.missed:
                print("  missed:", "; ".join(missed))


if __name__ == "__main__":
    main()
