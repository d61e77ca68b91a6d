"""Token ids of many names at once, exactly those of the tokenizer, each word tokenised once.

A tokenizer that splits at spaces gives a name the tokens of its words, and names share their
words. Where a tokenizer may look across a space, or a word is unusual, names go to it whole.
"""

import json
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_UNICODE = {"NFC", "NFD", "NFKC", "NFKD"}
_NORMALIZERS = _UNICODE | {"BertNormalizer", "Lowercase", "Precompiled", "StripAccents"}
_SPLITTERS = {"BertPreTokenizer", "ByteLevel", "Metaspace", "Whitespace", "WhitespaceSplit"}
_CACHED = 1 << 21  # words
_FURTHER_SPLITTERS = {"Digits", "Punctuation"}

Tokens = tuple[np.ndarray, np.ndarray]
"""Ids on end, uint32, and how many of them each text has, int64."""


class NameTokenizer:
    """Tokenise names as `tokenizer` does, special tokens and truncation included.

    tokenizer (Tokenizer): Without padding.
    """

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer
        spec = json.loads(tokenizer.to_str())
        self._truncation = spec["truncation"]
        self._by_words = _splits_at_spaces(spec)
        # Some give a word other tokens where a space stands before it.
        splitters = {part["type"] for part in _parts(spec["pre_tokenizer"], "pretokenizers")}
        self._spaced = bool(splitters & {"ByteLevel", "Metaspace"})
        self._cache: dict[str, int] = {}
        self._ids = np.empty(0, dtype=np.uint32)
        self._starts = self._counts = np.empty(0, dtype=np.int64)
        self._before, self._after = self._special_ids()

    def encode(self, names: pa.Array) -> Tokens:
        """Return the tokens of names, a string array."""
        if not self._by_words or not len(names):
            return self._whole(names.to_pylist())
        # A name has so many words, which have so many ids; one odd word makes a name go whole.
        words = pc.split_pattern(names, " ")
        ends = np.diff(words.offsets.to_numpy()).cumsum()
        starts = np.concatenate([[0], ends[:-1]])
        ids, word_starts, word_counts = self._words(words.flatten(), starts)
        whole = np.logical_or.reduceat(word_counts < 0, starts)
        word_counts[np.repeat(whole, ends - starts)] = 0
        counts = np.add.reduceat(word_counts, starts)
        room = self._room(int(counts.max()))
        kept = np.minimum(counts, room)
        sizes = kept + len(self._before) + len(self._after)
        others, other_sizes = self._whole(names.filter(pa.array(whole)).to_pylist())
        sizes[whole] = other_sizes
        out = np.empty(int(sizes.sum()), dtype=np.uint32)
        begins = np.cumsum(sizes) - sizes
        out[_ranges(begins[whole], other_sizes)] = others
        begins, counts, kept = begins[~whole], counts[~whole], kept[~whole]
        for place, token in enumerate(self._before):
            out[begins + place] = token
        begins += len(self._before)
        for place, token in enumerate(self._after):
            out[begins + kept + place] = token
        tokens = ids[_ranges(word_starts, word_counts)]
        out[_ranges(begins, kept)] = tokens[_ranges(np.cumsum(counts) - counts, kept)]
        return out, sizes

    def _words(self, words: pa.Array, starts: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return ids, and of every word where its ids start there and how many they are.

        Of a word that the tokenizer must see in its name the number is -1.
        """
        encoded = words.dictionary_encode()
        keys = encoded.indices.to_numpy().astype(np.int64)
        distinct = encoded.dictionary.to_pylist()
        if self._spaced:
            keys *= 2
            keys[starts] += 1
            distinct = [text for word in distinct for text in (f" {word}" if word else "", word)]
        rows = np.full(len(distinct), -1, dtype=np.int64)
        used = np.flatnonzero(np.bincount(keys, minlength=len(distinct)))
        rows[used] = self._rows([distinct[key] for key in used])
        return self._ids, self._starts[rows[keys]], self._counts[rows[keys]]

    def _rows(self, words: list[str]) -> list[int]:
        """Return where words are in the cache; those that are not there yet are tokenised."""
        fresh = [word for word in dict.fromkeys(words) if word not in self._cache]
        if len(self._cache) + len(fresh) > _CACHED:
            self._forget()
            fresh = [*dict.fromkeys(words)]
        plain = [self._is_plain(word) for word in fresh]
        texts = [word if alone else "" for word, alone in zip(fresh, plain, strict=True)]
        ids, counts = self._whole(texts, special=False)
        self._starts = np.append(self._starts, len(self._ids) + np.cumsum(counts) - counts)
        self._counts = np.append(self._counts, np.where(plain, counts, -1))
        self._ids = np.append(self._ids, ids)
        self._cache |= {word: row for row, word in enumerate(fresh, len(self._cache))}
        return [self._cache[word] for word in words]

    def _forget(self) -> None:
        self._cache.clear()
        self._ids, self._starts, self._counts = self._ids[:0], self._starts[:0], self._counts[:0]

    def _is_plain(self, word: str) -> bool:
        """Tell whether a word has the same tokens by itself as in its name.

        Not where it is or may become a space, or may join the one before it.
        """
        word = word.removeprefix(" ")
        if word.isascii():
            return bool(word) and word.isprintable()
        folded = unicodedata.normalize("NFKC", word)
        spaced = " " in folded or not folded.isprintable()
        return not spaced and not unicodedata.category(folded[0]).startswith("M")

    def _whole(self, texts: list[str], *, special: bool = True) -> Tokens:
        """Return the tokens of texts, each tokenised whole."""
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=special)
        rows = [encoding.ids for encoding in encodings]
        counts = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        return np.fromiter(chain.from_iterable(rows), dtype=np.uint32), counts

    def _special_ids(self) -> tuple[list[int], list[int]]:
        """Return the ids that the tokenizer puts before and after those of a text."""
        encoding = self._tokenizer.encode("a")
        mask = encoding.special_tokens_mask
        own = [place for place, special in enumerate(mask) if not special] or [len(mask)]
        if 1 in mask[own[0] : own[-1] + 1]:
            self._by_words = False
        return encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]

    def _room(self, most: int) -> int:
        """Return how many ids of its own a text keeps, of at most so many."""
        if self._truncation is None:
            return most
        return max(0, self._truncation["max_length"] - len(self._before) - len(self._after))


def _splits_at_spaces(spec: dict[str, Any]) -> bool:
    """Tell of a tokenizer.json whether every token lies between two spaces of its text."""
    normalizers = _parts(spec["normalizer"], "normalizers")
    splitters = _parts(spec["pre_tokenizer"], "pretokenizers")
    return (
        all(map(_keeps_spaces, normalizers))
        and all(part["type"] in _SPLITTERS | _FURTHER_SPLITTERS for part in splitters)
        and any(part["type"] in _SPLITTERS for part in splitters)
        and all(part.get("split", True) and part.get("use_regex", True) for part in splitters)
        and not spec["model"].get("dropout")
        and not any(token["rstrip"] or " " in token["content"] for token in spec["added_tokens"])
        and (spec["truncation"] or {}).get("direction", "Right") == "Right"
    )


def _keeps_spaces(normalizer: dict[str, Any]) -> bool:
    kind = normalizer["type"]
    if kind == "Replace":
        return bool(normalizer["pattern"] == {"Regex": " {2,}"})
    return kind in _NORMALIZERS or (kind == "Strip" and not normalizer["strip_left"])


def _parts(step: dict[str, Any] | None, name: str) -> list[dict[str, Any]]:
    """Return a step of a tokenizer.json, or the steps that it is a sequence of."""
    if step is None:
        return []
    return [part for each in step[name] for part in _parts(each, name)] if name in step else [step]


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return so many numbers from each start, one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + counts, counts)
