"""What the readers gather: names, definitions, relations and mappings of terms.

A term is named by its accession, `PREFIX:local` such as HP:0001250, whichever way a file writes it.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from spacy_bergamot.kb_import.ontology.sources import Sources
from spacy_bergamot.languages import LANGUAGES
from spacy_bergamot.text import broken_character, normalize

UMLS = "UMLS"
PREFIXES = {
    "ICD10EN": "ICD10", "ICD10WHO": "ICD10", "MIM": "OMIM", "MSH": "MESH", "NCI": "NCIT",
    "ORDO": "ORPHA", "ORPHANET": "ORPHA", "UMLS_CUI": UMLS, "WIKI": "WIKIPEDIA",
}  # fmt: skip
"""Other spellings of a prefix."""

_IRI = re.compile(r"https?://.*[/#].")
_DATED = re.compile(r"_\d{4}_\d{2}_\d{2}$")
_UMLS_IRI = "linkedlifedata.com/resource/umls/id/"
_WIKI = "wiki"  # a page's title has "_" for spaces: en.wikipedia.org/wiki/Articular_processes
_CUI = re.compile(r"C\d{7}")
_REPLACED = "\ufffd"  # what other programs put for bytes that they could not read
_OBSOLETE = ("obsolete ", "obsolete:")  # how labels of terms begin that were withdrawn
_SHOWN = 5


class Name(NamedTuple):
    """One name of a term; language is MRCONSO's code, kind its TTY."""

    accession: str
    language: str
    text: str
    kind: str
    suppressed: bool = False


@dataclass
class Records:
    """What the readers found, in the files' order.

    definitions: (accession, text). relations: (subject, predicate, object). matches: accessions
    that a mapping calls exact matches. same: those that it calls one thing, which may be of one
    ontology. xrefs: accession and what it refers to, the same or only close. exclusive: accessions
    that a name means alone, by language and name in normal form.
    types: (accession, TUI). codes: (source, code) of terms whose accession does not say them, each
    empty if a file does not either. classified: accessions whose codes say their parents, with
    their chapters where a file says them. obsolete: accessions that a file withdraws. labels: names
    of predicates. relation_names: MRREL's REL and RELA of a predicate, and RELA the other way
    round. sources: what the files say of themselves. skipped: what was left out and why. notes: the
    first rows and names that were malformed. columns: those of tables of no known form, by file.
    reviewed_only: whether translations that nobody has reviewed are suppressed.
    """

    reviewed_only: bool = False
    names: list[Name] = field(default_factory=list)
    definitions: list[tuple[str, str]] = field(default_factory=list)
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    matches: list[tuple[str, str]] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    xrefs: list[tuple[str, str]] = field(default_factory=list)
    exclusive: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    types: list[tuple[str, str]] = field(default_factory=list)
    codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    classified: dict[str, str] = field(default_factory=dict)
    obsolete: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)
    relation_names: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    sources: Sources = field(default_factory=Sources)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)

    def name(
        self, accession: str, text: str, kind: str, *, language: str = "ENG", suppressed: bool
    ) -> None:
        """Add a name on one line; an empty one, or one with RRF's separator, is counted.

        accession (str): Of the term. text (str): The name.
        kind (str): PT for the preferred one, SY, ET, as TTY in RRF.
        language (str): As LAT in RRF. suppressed (bool): It is kept, and not taken by default.
        """
        text = " ".join(text.split())
        if not text:
            self.skipped["empty names"] += 1
        elif "|" in text or _REPLACED in text:
            self.skipped["names with | or U+FFFD"] += 1
        elif kind == "PT" and text.lower().startswith(_OBSOLETE):
            self.obsolete.add(accession)
        elif character := broken_character(text):
            self.skipped["names with control characters"] += 1
            self._note(f"{accession}: the name {text!r} has {character}")
        else:
            self.names.append(Name(accession, language, text, kind, suppressed))

    def exclude(self, accession: str, text: str, language: str) -> None:
        """Keep a name from other concepts that have it in this language too.

        accession (str): Of the term whose name it is. text (str): The name.
        language (str): As LAT in RRF.
        """
        self.exclusive.setdefault((language, normalize(text)), set()).add(accession)

    def suppresses(self, *, unreviewed: bool) -> bool:
        """Return whether a translation is suppressed, and count it if it is.

        unreviewed (bool): Nobody has reviewed it; it may be a machine's.
        """
        if unreviewed and self.reviewed_only:
            self.skipped["translations that nobody has reviewed: suppressed"] += 1
        return unreviewed and self.reviewed_only

    def synonym(self, accession: str, text: str, scope: str, *, language: str = "ENG") -> None:
        """Add a synonym by its OBO scope: broad and related ones are suppressed.

        accession, text, language: As of `name`. scope (str): Such as hasExactSynonym.
        """
        scope = scope.lower()
        exact = "exact" in scope
        loose = "broad" in scope or "related" in scope
        self.name(accession, text, "SY" if exact else "ET", language=language, suppressed=loose)

    def definition(self, accession: str, text: str) -> None:
        """Add a definition, on one line and without RRF's separator.

        accession (str): Of the term. text (str): The definition.
        """
        text = " ".join(text.replace("|", "/").split())
        if text and _REPLACED not in text and not broken_character(text):
            self.definitions.append((accession, text))

    def source_of(self, accession: str) -> str:
        """Return the vocabulary that a term belongs to; LOCAL where nothing says it.

        accession (str): Of the term.
        """
        source, _ = self.codes.get(accession, ("", ""))
        return source or prefix_of(accession) or "LOCAL"

    def code_of(self, accession: str) -> str:
        """Return a term's code in its vocabulary: the accession if none is said."""
        _, code = self.codes.get(accession, ("", ""))
        return code or accession

    def drop_obsolete(self) -> None:
        """Drop names of obsolete terms, wherever they came from, and repeated names."""
        distinct = dict.fromkeys(self.names)
        self.names = [name for name in distinct if name.accession not in self.obsolete]
        self.skipped["names of obsolete terms"] += len(distinct) - len(self.names)

    def malformed(self, where: str, what: str) -> None:
        """Count a malformed row and keep the first few to show.

        where (str): File and line. what (str): Is wrong with it.
        """
        self.skipped["malformed rows"] += 1
        self._note(f"{where}: {what}")

    def _note(self, text: str) -> None:
        if len(self.notes) < _SHOWN:
            self.notes.append(text)


def accession_of(identifier: str) -> str | None:
    """Return an IRI or CURIE as PREFIX:local, or None if it is neither.

    http://purl.obolibrary.org/obo/HP_0001250 and hp:0001250 are both HP:0001250, and
    http://identifiers.org/hgnc/5724 is HGNC:5724; SNOMEDCT_US_2025_09_01 loses its date.

    identifier (str): As a file has it.
    """
    identifier = identifier.strip().strip("<>\"'")
    if _UMLS_IRI in identifier:
        identifier = f"{UMLS}:{identifier.rpartition('/')[2]}"
    if _IRI.match(identifier):
        *_, owner, term = re.split("[/#]", identifier)
        curie = "_" in term and owner != _WIKI
        identifier = term.replace("_", ":", 1) if curie else f"{owner}:{term}"
    prefix, colon, local = identifier.partition(":")
    if not (prefix and colon and local) or any(c.isspace() or c == "|" for c in identifier):
        return None
    prefix = _DATED.sub("", prefix.upper())
    prefix = PREFIXES.get(prefix, prefix)
    return f"{prefix}:{local}" if prefix != UMLS or _CUI.fullmatch(local) else None


def prefix_of(accession: str) -> str:
    """Return the part of an accession before the colon; a plain id has the empty prefix."""
    prefix, colon, _ = accession.partition(":")
    return prefix if colon else ""


def language_of(code: str) -> str:
    """Return MRCONSO's code for "de", "de-AT" or "GER"; another code stays, in capitals."""
    short = code.strip().lower().replace("_", "-").partition("-")[0]
    return LANGUAGES.get(short, short.upper())
