"""Facts of UMLS that the sample needs: languages, relations and semantic types."""

import csv
from pathlib import Path
from typing import NamedTuple

# MRCONSO's LAT: the languages of UMLS, and others in the same three-letter scheme.
_CODES = """
ARA BAQ BUL CAT CHI CZE DAN DUT ENG EST FIN FRE GER GRE HEB HIN HUN IND ITA JPN KOR LAT LAV LIT
NOR PER POL POR RUM RUS SCR SLO SLV SPA SWE THA TUR UKR VIE
"""
LANGUAGES = frozenset(_CODES.split())


class Relation(NamedTuple):
    """How `subject key: target` reads in MRREL, where REL and RELA say what CUI2 is to CUI1.

    rel, rela: the row with the target as CUI1 and the subject as CUI2.
    inverse_rel, inverse_rela: the row with the subject as CUI1 and the target as CUI2.
    """

    rel: str
    rela: str
    inverse_rel: str
    inverse_rela: str


RELATIONS = {
    "isa": Relation("CHD", "isa", "PAR", "inverse_isa"),
    "part_of": Relation("RO", "part_of", "RO", "has_part"),
    "finding_site": Relation("RO", "has_finding_site", "RO", "finding_site_of"),
    "may_treat": Relation("RO", "may_treat", "RO", "may_be_treated_by"),
    "may_prevent": Relation("RO", "may_prevent", "RO", "may_be_prevented_by"),
    "may_diagnose": Relation("RO", "may_diagnose", "RO", "may_be_diagnosed_by"),
    "has_manifestation": Relation("RO", "has_manifestation", "RO", "manifestation_of"),
    "causative_agent": Relation("RO", "has_causative_agent", "RO", "causative_agent_of"),
    "associated_with": Relation("RO", "associated_with", "RO", "associated_with"),
    "procedure_site": Relation("RO", "has_procedure_site", "RO", "procedure_site_of"),
    "contraindicated_with": Relation(
        "RO", "contraindicated_with_disease", "RO", "contraindicating_class_of"
    ),
    "tradename_of": Relation("RN", "tradename_of", "RB", "has_tradename"),
    "narrower_than": Relation("RN", "", "RB", ""),
}


class SemanticType(NamedTuple):
    """A type of the UMLS Semantic Network."""

    tui: str
    tree_number: str
    name: str
    group: str


def read_semantic_types(path: Path) -> dict[str, SemanticType]:
    """Read the table of semantic types, keyed by TUI."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t")
        next(rows)
        return {row[0]: SemanticType(*row) for row in rows}
