"""Settings of the dictionary matcher."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MentionSettings:
    """Settings of `bergamot_mentions`; they live in the config alone.

    max_tokens (int): Longest mention; in scripts without spaces, three times as many characters.
    min_length (int): Shortest mention in characters; in scripts without spaces and in Korean 2.
    groups (list[str]): Semantic groups to mark; where empty all but those of groups_discard.
    groups_discard (list[str]): Groups that are not marked unless `groups` names them: those that
        say nothing of a patient, such as concepts and ideas ("single", "severe") and places.
    languages (list[str]): Languages of the names to mark, as GER or de; all where empty. Names
        of the language that a document says, and those without a language, are always marked.
    folded (bool): Mark names that are written otherwise too, by the rules of the document's
        language: inflected, reordered, with or without hyphens, in British spelling; and no names
        inside of phrases in which they say nothing, "ST depression".
    tolerant (bool): Mark names with a misspelt word too, where folded ones are marked: with one
        letter more, less or other, or two swapped, but for the first, from six letters on.
    abbreviations (bool): Mark a short form that the document defines wherever it stands, however
        short, as its long form is marked; before what the dictionary has of it.
    usual_abbreviations (bool): Mark short forms that clinical notes of the document's language use
        without defining them, such as "HTN", where the names have what they mean.
    spans_key (str | None): Write `doc.spans[spans_key]`, with overlaps, instead of `doc.ents`.
    """

    max_tokens: int = 8
    min_length: int = 3
    groups: list[str] = field(default_factory=list)
    groups_discard: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    folded: bool = True
    tolerant: bool = True
    abbreviations: bool = True
    usual_abbreviations: bool = True
    spans_key: str | None = None
