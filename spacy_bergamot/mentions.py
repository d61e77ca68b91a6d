"""The component `bergamot_mentions`: mentions by dictionary, in any language, without an NER.

It carries the keys of the knowledge base's aliases, not their text: 9 bytes a name. In Chinese,
Japanese and Thai, which write no spaces, a mention may begin and end inside a token; the token is
split there, so that entities are exact.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans
from spacy.vocab import Vocab

from spacy_bergamot.bundle import FileBundle
from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.files import atomic_folder
from spacy_bergamot.hashing import find_keys, string_key
from spacy_bergamot.manifest import read_manifest, write_manifest
from spacy_bergamot.text import normalize

KIND = "mention-keys"
VERSION = 1
UNGROUPED = "MENTION"
"""Label of the names of a concept without a semantic group."""
_ABBREVIATION = 5  # characters; up to here a name in capitals is matched in capitals only
_UNSPACED = (
    (0x0E00, 0x0E7F),  # Thai
    (0x3040, 0x309F),  # Hiragana
    (0x30A0, 0x30FF),  # Katakana
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x323AF),  # Han, further extensions
)


@Language.factory(
    "bergamot_mentions",
    assigns=["doc.ents"],
    default_config={"max_tokens": 8, "min_length": 3, "groups": [], "spans_key": None},
)
def make_mentions(
    nlp: Language,
    name: str,
    max_tokens: int,
    min_length: int,
    groups: list[str],
    spans_key: str | None,
) -> "BergamotMentions":
    """Make a dictionary matcher; see `BergamotMentions` for the settings."""
    return BergamotMentions(
        nlp.vocab,
        name,
        max_tokens=max_tokens,
        min_length=min_length,
        groups=groups,
        spans_key=spans_key,
    )


class BergamotMentions(Pipe):
    """Mark the longest aliases from left to right, labelled with their semantic group or MENTION.

    Entities that are there already stay. A name in capitals of up to five characters, such as an
    abbreviation, matches capitals only.

    max_tokens (int): Longest mention; in scripts without spaces, three times as many characters.
    min_length (int): Shortest mention in characters; in scripts without spaces 2.
    groups (list[str]): Semantic groups to mark; all where empty.
    spans_key (str | None): Write `doc.spans[spans_key]`, with overlaps, instead of `doc.ents`.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "bergamot_mentions",
        *,
        max_tokens: int = 8,
        min_length: int = 3,
        groups: Iterable[str] = (),
        spans_key: str | None = None,
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.settings: dict[str, Any] = {
            "max_tokens": max_tokens,
            "min_length": min_length,
            "groups": tuple(groups),
            "spans_key": spans_key,
        }
        self.bundle: FileBundle | None = None
        self.keys = np.empty(0, dtype=np.uint64)
        self.key_groups = np.empty(0, dtype=np.uint8)
        self.group_names: list[str] = []

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document."""
        if self.bundle is None:
            raise BergamotError(Errors.B030.format(name=self.name))
        found = [place for place in self._find(doc) if self._wanted(place[2])]
        if self.settings["spans_key"] is None:
            found = _free(_longest_first(found), doc)
        split_tokens(doc, {border for start, end, _ in found for border in (start, end)})
        # spaCy drops an entity without a label.
        spans = [doc.char_span(start, end, label=group or UNGROUPED) for start, end, group in found]
        if self.settings["spans_key"] is not None:
            doc.spans[self.settings["spans_key"]] = [span for span in spans if span]
        else:
            doc.set_ents(filter_spans([*doc.ents, *(span for span in spans if span)]))
        return doc

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        concepts: Callable[[], ConceptTable] | None = None,
    ) -> None:
        """Take the keys of a knowledge base's aliases: spacy_bergamot.ConceptTable.v1."""
        if concepts is None:
            raise BergamotError(Errors.B038.format(name=self.name))
        bundle = FileBundle.temporary()
        write_mention_keys(bundle.path, concepts())
        self._load(bundle)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the keys."""
        self._saved().copy_to(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "BergamotMentions":
        """Map the keys."""
        self._load(FileBundle(Path(path)))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the keys as msgpack."""
        return srsly.msgpack_dumps(self._saved().to_bytes(name=self.name))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "BergamotMentions":
        """Restore the keys."""
        try:
            bundle = FileBundle.from_bytes(srsly.msgpack_loads(data))
        except (ValueError, TypeError, AttributeError) as reason:
            message = Errors.B035.format(path="The bytes", name=self.name, reason=repr(reason))
            raise BergamotError(message) from None
        self._load(bundle)
        return self

    def __reduce__(self) -> tuple:
        """Pickle the files' path, or their bytes where the component owns them."""
        saved: Any = self.bundle
        if saved is not None:
            saved = saved.path if saved.owner is None else saved.to_bytes(name=self.name)
        return _unpickle, (self.vocab, self.name, self.settings, saved)

    def _saved(self) -> FileBundle:
        if self.bundle is None:
            raise BergamotError(Errors.B030.format(name=self.name))
        return self.bundle

    def _load(self, bundle: FileBundle) -> None:
        fields = {"groups": list}
        manifest = read_manifest(bundle.path, kind=KIND, version=VERSION, fields=fields)
        for group in self.settings["groups"]:
            if group not in manifest["groups"]:
                known = ", ".join(manifest["groups"])
                message = Errors.B033.format(
                    value=group, what="groups", name=self.name, known=known
                )
                raise BergamotError(message)
        self.group_names = manifest["groups"]
        self.keys = np.load(bundle.path / "keys.npy", mmap_mode="r")
        self.key_groups = np.load(bundle.path / "groups.npy", mmap_mode="r")
        self.bundle = bundle

    def _find(self, doc: Doc) -> list[tuple[int, int, str]]:
        """Return (start, end, group) of every window of the text that is an alias."""
        windows, text = list(self._windows(doc)), doc.text
        keys: list[int] = []
        for start, end in windows:
            surface = text[start:end]
            keys += [string_key(normalize(surface)), string_key(_capitals(surface) or "")]
        found = find_keys(self.keys, np.array(keys, dtype=np.uint64)).reshape(-1, 2).max(1)
        return [
            (start, end, self.group_names[self.key_groups[position]])
            for (start, end), position in zip(windows, found, strict=True)
            if position >= 0
        ]

    def _windows(self, doc: Doc) -> Iterator[tuple[int, int]]:
        """Yield the characters of every run of units: tokens, or characters of unspaced scripts."""
        units = list(_units(doc))
        most = self.settings["max_tokens"]
        for first, (start, _, unspaced) in enumerate(units):
            reach = 3 * most if unspaced else most
            least = 2 if unspaced else self.settings["min_length"]
            for _, end, _ in units[first : first + reach]:
                if end - start >= least:
                    yield start, end

    def _wanted(self, group: str) -> bool:
        return not self.settings["groups"] or group in self.settings["groups"]


def write_mention_keys(path: Path, table: ConceptTable) -> None:
    """Write the sorted keys of a table's aliases, and the semantic group of each."""
    groups = [""] * len(table)
    names = table.types.column("group").to_pylist()
    for concept, group in zip(table.keys("types").tolist(), names, strict=True):
        groups[concept] = group
    labels = sorted(set(groups))
    number = {label: index for index, label in enumerate(labels)}
    found: dict[int, int] = {}
    concepts = table.keys("aliases")
    for row, alias in enumerate(table.aliases.column("alias")):
        text = alias.as_py()
        if any(character.isalpha() for character in text):
            key = string_key(_capitals(text) or normalize(text))
            found.setdefault(key, number[groups[concepts[row]]])
    keys = np.fromiter(found, dtype=np.uint64, count=len(found))
    order = np.argsort(keys)
    with atomic_folder(path) as folder:
        np.save(folder / "keys.npy", keys[order])
        np.save(folder / "groups.npy", np.fromiter(found.values(), dtype=np.uint8)[order])
        write_manifest(folder, kind=KIND, version=VERSION, groups=labels, keys=len(keys))


def split_tokens(doc: Doc, borders: set[int]) -> None:
    """Split every token that has one of the borders (characters of the document) inside."""
    cuts: dict[int, list[int]] = {}
    starts = np.array([token.idx for token in doc], dtype=np.int64)
    for border in sorted(borders):
        i = int(np.searchsorted(starts, border, side="right")) - 1
        if starts[i] < border < starts[i] + len(doc[i]):
            cuts.setdefault(i, []).append(border - int(starts[i]))
    if not cuts:
        return
    with doc.retokenize() as retokenizer:
        for i, inside in cuts.items():
            text = doc[i].text
            bounds = [0, *inside, len(text)]
            parts = [text[a:b] for a, b in pairwise(bounds)]
            retokenizer.split(doc[i], parts, heads=[(doc[i], n) for n in range(len(parts))])


def _units(doc: Doc) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, unspaced): a token, or a character of a script without spaces.

    A run of Katakana stays whole: it is a word.
    """
    for token in doc:
        start = token.idx
        for offset, character in enumerate(token.text):
            position = token.idx + offset
            before = token.text[offset - 1] if offset else ""
            if position > start and _breaks(before, character):
                yield start, position, _is_unspaced(before)
                start = position
        if not token.is_space:
            yield start, token.idx + len(token), _is_unspaced(token.text[-1:])


def _breaks(before: str, after: str) -> bool:
    if not (_is_unspaced(before) or _is_unspaced(after)):
        return False
    return not (_is_katakana(before) and _is_katakana(after))


def _is_katakana(character: str) -> bool:
    return "\u30a0" <= character <= "\u30ff"


def _is_unspaced(character: str) -> bool:
    code = ord(character) if character else 0
    return code >= 0x0E00 and any(low <= code <= high for low, high in _UNSPACED)


def _capitals(text: str) -> str | None:
    """Return the form under which a short name in capitals is kept, or None for other names."""
    if len(text) <= _ABBREVIATION and text.isupper():
        return f"={text}"
    return None


def _longest_first(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Keep matches that do not overlap: from left to right, the longest at each place."""
    kept: list[tuple[int, int, str]] = []
    for place in sorted(found, key=lambda place: (place[0], -place[1])):
        if not kept or place[0] >= kept[-1][1]:
            kept.append(place)
    return kept


def _free(found: list[tuple[int, int, str]], doc: Doc) -> list[tuple[int, int, str]]:
    """Leave out matches that overlap an entity of the document; both are in order."""
    ents = [(ent.start_char, ent.end_char) for ent in doc.ents]
    starts = [start for start, _ in ents]
    kept = []
    for place in found:
        before = bisect_left(starts, place[1]) - 1  # the last that starts before its end
        if before < 0 or ents[before][1] <= place[0]:
            kept.append(place)
    return kept


def _unpickle(vocab: Vocab, name: str, settings: dict[str, Any], saved: Any) -> BergamotMentions:
    mentions = BergamotMentions(vocab, name, **settings)
    if saved is not None:
        bundle = FileBundle(saved) if isinstance(saved, Path) else FileBundle.from_bytes(saved)
        mentions._load(bundle)
    return mentions
