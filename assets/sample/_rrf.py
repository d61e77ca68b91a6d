"""Write the concepts of the sample as UMLS tables in Rich Release Format."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from _source import ENGLISH, Concept, Name
from _umls import RELATIONS, SemanticType

SOURCE = "SBSAMPLE"
VERSION = "1.0"
TITLE = "spaCy-BERGAMOT sample knowledge base"
NOT_SUPPRESSED = "N"
NO_RESTRICTION = "0"

Row = Sequence[str]


class Identifiers:
    """Hands out one identifier a key, numbered in the order in which the keys first appear."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._numbers: dict[tuple[str, ...], int] = {}

    def __call__(self, *key: str) -> str:
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        return f"{self._prefix}{number:07d}"


class Atom(NamedTuple):
    """One name of one concept in one language: a row of MRCONSO."""

    cui: str
    language: str
    is_preferred: bool
    name: Name
    aui: str

    @property
    def term_type(self) -> str:
        """PT (preferred), SY (synonym) or AB (abbreviation)."""
        if self.name.is_abbreviation:
            return "AB"
        return "PT" if self.is_preferred else "SY"


def build_tables(
    concepts: Mapping[str, Concept], semantic_types: Mapping[str, SemanticType]
) -> dict[str, str]:
    """Return the content of every RRF file by its name.

    concepts (Mapping[str, Concept]): The concepts by CUI, free of problems.
    semantic_types (Mapping[str, SemanticType]): The semantic types by TUI.
    """
    ordered = [concepts[cui] for cui in sorted(concepts)]
    atoms = list(_atoms(ordered))
    auis = {atom.cui: atom.aui for atom in atoms if atom.is_preferred and atom.language == ENGLISH}
    attribute = Identifiers("AT")
    return {
        "MRCONSO.RRF": _rrf(_mrconso(atoms)),
        "MRSTY.RRF": _rrf(_mrsty(ordered, semantic_types, attribute)),
        "MRDEF.RRF": _rrf(_mrdef(ordered, auis, attribute)),
        "MRREL.RRF": _rrf(_mrrel(ordered, auis)),
        "MRSAB.RRF": _rrf(_mrsab(atoms)),
    }


def source_of(language: str) -> str:
    """Return the SAB of a language's names."""
    return SOURCE if language == ENGLISH else SOURCE + language


def code_of(cui: str) -> str:
    """Return the code of a concept in the sample: C0020538 has S0020538."""
    return "S" + cui.removeprefix("C")


def _rrf(rows: Iterable[Row]) -> str:
    return "".join("|".join(row) + "|\n" for row in rows)


def _atoms(concepts: Iterable[Concept]) -> Iterator[Atom]:
    aui = Identifiers("A")
    for concept in concepts:
        for language, names in sorted(concept.names.items()):
            for rank, name in enumerate(names):
                identifier = aui(concept.cui, language, name.text)
                yield Atom(concept.cui, language, rank == 0, name, identifier)


def _mrconso(atoms: Iterable[Atom]) -> Iterator[Row]:
    """CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF."""
    lui, sui = Identifiers("L"), Identifiers("S")
    preferred_term = ""
    seen: set[tuple[str, str]] = set()
    for atom in atoms:
        term = lui(atom.language, " ".join(atom.name.text.lower().split()))
        string = sui(atom.language, atom.name.text)
        if atom.is_preferred:
            preferred_term = term
        is_first = (atom.cui, term) not in seen
        seen.add((atom.cui, term))
        code = code_of(atom.cui)
        yield (
            atom.cui,
            atom.language,
            "P" if term == preferred_term else "S",
            term,
            "PF" if is_first else "VO",
            string,
            "Y" if atom.is_preferred else "N",
            atom.aui,
            *("", code, ""),
            source_of(atom.language),
            atom.term_type,
            code,
            atom.name.text,
            *(NO_RESTRICTION, NOT_SUPPRESSED, ""),
        )


def _mrsty(
    concepts: Iterable[Concept],
    semantic_types: Mapping[str, SemanticType],
    attribute: Identifiers,
) -> Iterator[Row]:
    """CUI TUI STN STY ATUI CVF."""
    for concept in concepts:
        for tui in sorted(set(concept.types)):
            kind = semantic_types[tui]
            identifier = attribute(concept.cui, tui)
            yield concept.cui, tui, kind.tree_number, kind.name, identifier, ""


def _mrdef(
    concepts: Iterable[Concept], auis: Mapping[str, str], attribute: Identifiers
) -> Iterator[Row]:
    """CUI AUI ATUI SATUI SAB DEF SUPPRESS CVF."""
    for concept in concepts:
        if concept.definition:
            cui = concept.cui
            identifier = attribute(cui, "DEF")
            text = concept.definition
            yield cui, auis[cui], identifier, "", SOURCE, text, NOT_SUPPRESSED, ""


def _mrrel(concepts: Iterable[Concept], auis: Mapping[str, str]) -> Iterator[Row]:
    """CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF."""
    rui = Identifiers("R")
    for edge, is_asserted in sorted(_edges(concepts).items()):
        head, rel, rela, tail = edge
        yield (
            *(head, auis[head], "SCUI", rel),
            *(tail, auis[tail], "SCUI", rela),
            *(rui(*edge), "", SOURCE, SOURCE, ""),
            "Y" if is_asserted else "N",
            *(NOT_SUPPRESSED, ""),
        )


def _edges(concepts: Iterable[Concept]) -> dict[tuple[str, str, str, str], bool]:
    """Return (CUI1, REL, RELA, CUI2) in both directions, and whether a source line states it."""
    edges: dict[tuple[str, str, str, str], bool] = {}
    for concept in concepts:
        for link in concept.links:
            relation = RELATIONS[link.key]
            edges[link.target, relation.rel, relation.rela, concept.cui] = True
            inverse = concept.cui, relation.inverse_rel, relation.inverse_rela, link.target
            edges.setdefault(inverse, False)
    return edges


def _mrsab(atoms: Iterable[Atom]) -> Iterator[Row]:
    """Give one row a language.

    VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY TTYL ATNL LAT
    CENC CURVER SABIN SSN SCIT.
    """
    by_language: dict[str, list[Atom]] = {}
    for atom in atoms:
        by_language.setdefault(atom.language, []).append(atom)
    for language, members in sorted(by_language.items()):
        sab = source_of(language)
        title = TITLE if language == ENGLISH else f"{TITLE}, {language}"
        strings = {atom.name.text for atom in members}
        cuis = {atom.cui for atom in members}
        term_types = sorted({atom.term_type for atom in members})
        yield (
            *("", "", f"{sab}_{VERSION}", sab, title, SOURCE, VERSION),
            *("", "", "", "", "", "", NO_RESTRICTION),
            *(str(len(strings)), str(len(cuis)), "", ",".join(term_types)),
            *("", language, "UTF-8", "Y", "Y", title, f"{title}, version {VERSION}"),
        )
