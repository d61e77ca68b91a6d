"""Semantic types of terms by ontology and branch, where a file gives none: our rule, not UMLS's."""

from collections import deque
from collections.abc import Iterable

from spacy_bergamot.kb_import.ontology.records import prefix_of

IS_A = {"is_a", "RDFS:subClassOf"}

_OF_ONTOLOGIES = {
    "ATC": "T121", "BFO": "T071", "CARO": "T017", "CHEBI": "T103", "CL": "T025", "DOID": "T047",
    "FMA": "T023", "FOODON": "T168", "GO": "T038", "HGNC": "T028", "HP": "T033", "ICD10": "T047",
    "ICD10GM": "T047", "KUPO": "T025", "MONDO": "T047", "NANDO": "T047", "NCBITAXON": "T001",
    "NCIT": "T047", "OMIM": "T047", "OPS": "T061", "ORPHA": "T047", "PATO": "T080", "PR": "T116",
    "RO": "T078", "SO": "T086", "SYMP": "T184", "TRANS": "T080", "UBERON": "T023",
}  # fmt: skip
PUBLISHED = frozenset(_OF_ONTOLOGIES)
"""Prefixes of the ontologies whose types are known."""

_OF_CHAPTERS = {"II": "T191", "V": "T048", "XVII": "T019", "XVIII": "T184", "XIX": "T037"}
"""Chapters of ICD-10 that are not of diseases in general."""

_OF_BRANCHES = {
    **{f"ICD10:{chapter}": tui for chapter, tui in _OF_CHAPTERS.items()},
    **{f"ICD10GM:{chapter}": tui for chapter, tui in _OF_CHAPTERS.items()},
    "OPS:1": "T060", "OPS:3": "T060",  # diagnostic procedures, imaging
    "HP:0000001": "T080",  # all that is no phenotypic abnormality: modifiers, frequencies, …
    "HP:0000005": "T045", "HP:0000118": "T033", "HP:0032443": "T033", "HP:0020228": "T033",
    "HP:0032223": "T033",
    "MONDO:0021125": "T080", "MONDO:0021178": "T037",
    "NCIT:C12219": "T023", "NCIT:C12913": "T025", "NCIT:C14250": "T001", "NCIT:C16612": "T028",
    "NCIT:C17828": "T038", "NCIT:C1908": "T103", "NCIT:C20047": "T201", "NCIT:C20189": "T080",
    "NCIT:C20633": "T044", "NCIT:C26548": "T116", "NCIT:C3262": "T191", "NCIT:C3367": "T033",
    "NCIT:C3910": "T045", "NCIT:C7057": "T047",
    "ORPHA:C001": "T047", "ORPHA:C003": "T081", "ORPHA:C005": "T045", "ORPHA:C009": "T083",
    "ORPHA:C010": "T028", "ORPHA:C023": "T079",
}  # fmt: skip


def types_of(relations: Iterable[tuple[str, str, str]], terms: Iterable[str]) -> dict[str, str]:
    """Return {accession: TUI} of the terms whose ontology is known.

    A term has the type of the nearest branch that it is in, else that of its ontology.

    relations (Iterable): Subject, predicate and object, as accessions.
    terms (Iterable[str]): Accessions.
    """
    below: dict[str, list[str]] = {}
    for subject, predicate, target in relations:
        if predicate in IS_A and prefix_of(subject) == prefix_of(target):
            below.setdefault(target, []).append(subject)
    found = dict(_OF_BRANCHES)
    reached = deque(_OF_BRANCHES)
    while reached:
        parent = reached.popleft()
        for term in below.get(parent, ()):
            if term not in found:
                found[term] = found[parent]
                reached.append(term)
    types = ((term, found.get(term) or _OF_ONTOLOGIES.get(prefix_of(term))) for term in terms)
    return {term: tui for term, tui in types if tui}
