"""Vocabularies of concept ids and codes: their names, and the URIs that FHIR has for them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.concept_table import PREFIXED_ID

UMLS = "UMLS"
_CUI = re.compile(r"C\d{7}")

SYSTEMS = {
    "UMLS": "http://www.nlm.nih.gov/research/umls",
    "SNOMEDCT_US": "http://snomed.info/sct",
    "SNOMEDCT": "http://snomed.info/sct",
    "SCTSPA": "http://snomed.info/sct",
    "RXNORM": "http://www.nlm.nih.gov/research/umls/rxnorm",
    "LNC": "http://loinc.org",
    "ICD10": "http://hl7.org/fhir/sid/icd-10",
    "ICD10CM": "http://hl7.org/fhir/sid/icd-10-cm",
    "ICD9CM": "http://hl7.org/fhir/sid/icd-9-cm",
    "ICD10PCS": "http://www.cms.gov/Medicare/Coding/ICD10",
    "ATC": "http://www.whocc.no/atc",
    "CPT": "http://www.ama-assn.org/go/cpt",
    "CVX": "http://hl7.org/fhir/sid/cvx",
    "HGNC": "http://www.genenames.org",
    "OMIM": "http://www.omim.org",
    "ORPHA": "http://www.orpha.net",
    "HP": "http://human-phenotype-ontology.org",
    "HPO": "http://human-phenotype-ontology.org",
    "MONDO": "http://purl.obolibrary.org/obo/mondo.owl",
}
"""System URI by vocabulary, as HL7 registered them; vocabularies are called as in MRCONSO.RRF (SAB)
or as the prefix of their ids."""

_WITH_PREFIX = {"HP", "HPO", "MONDO"}  # their codes in FHIR are HP:0001250, others' the bare code


class Reference(NamedTuple):
    """A concept in a vocabulary.

    vocabulary (str): Such as UMLS or HP; empty where nothing says it.
    code (str): Its id there, HP:0001250 and not HP_0001250.
    """

    vocabulary: str
    code: str


def reference(
    concept_id: str, kb: KnowledgeBase | None = None, *, knowledge_base: str | None = None
) -> Reference:
    """Return the vocabulary that a concept id belongs to, and the id as it is written there.

    The id's prefix says it, then that it is a CUI, then `knowledge_base`, then the knowledge base
    if it has one source alone.

    concept_id (str): Id.
    kb (KnowledgeBase | None): Where the concept is from.
    knowledge_base (str | None): Vocabulary of ids that do not say theirs.
    """
    prefixed = PREFIXED_ID.fullmatch(concept_id)
    if prefixed:
        return Reference(prefixed[1], f"{prefixed[1]}:{prefixed[2]}")
    if knowledge_base is None:
        if _CUI.fullmatch(concept_id):
            return Reference(UMLS, concept_id)
        sources = kb.sources if kb is not None else []
        knowledge_base = sources[0] if len(sources) == 1 else ""
    return Reference(knowledge_base, concept_id)


def coding(
    vocabulary: str, code: str, *, systems: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return a FHIR Coding: system, where one is known, and code.

    vocabulary (str): Name of the vocabulary; empty where nothing says it.
    code (str): The id in it.
    systems (Mapping[str, str] | None): System URI by vocabulary, before `SYSTEMS`.
    """
    system = {**SYSTEMS, **(systems or {})}.get(vocabulary)
    bare = code.removeprefix(f"{vocabulary}:")
    if vocabulary in _WITH_PREFIX:
        bare = f"{vocabulary}:{bare}"
    elif system is None:
        bare = code
    return {"system": system, "code": bare} if system else {"code": bare}
