"""The sources of a knowledge base: version, licence and address, and how many names each gives."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.languages import LANGUAGES


class KnownSource(NamedTuple):
    """Public facts of an ontology; `thanks` is what it asks its users to say."""

    name: str
    author: str
    address: str
    licence: str
    thanks: str = ""


KNOWN = {
    "CHEBI": KnownSource(
        "Chemical Entities of Biological Interest", "EMBL-EBI", "https://www.ebi.ac.uk/chebi",
        "CC BY 4.0",
    ),
    "CL": KnownSource(
        "Cell Ontology", "OBO Foundry", "https://obophenotype.github.io/cell-ontology/",
        "CC BY 4.0",
    ),
    "DOID": KnownSource(
        "Disease Ontology", "Institute for Genome Sciences, University of Maryland",
        "https://disease-ontology.org", "CC0 1.0",
    ),
    "HP": KnownSource(
        "Human Phenotype Ontology", "HPO Consortium", "https://hpo.jax.org", "HPO licence",
        "This product uses the Human Phenotype Ontology (version {version}). "
        "http://www.human-phenotype-ontology.org",
    ),
    "MONDO": KnownSource(
        "Mondo Disease Ontology", "Monarch Initiative", "https://mondo.monarchinitiative.org",
        "CC BY 4.0",
    ),
    "NANDO": KnownSource(
        "Nanbyo Disease Ontology", "DBCLS", "https://nanbyodata.jp", "CC BY 4.0"
    ),
    "NCBITAXON": KnownSource(
        "NCBI organismal classification", "OBO Foundry",
        "https://github.com/obophenotype/ncbitaxon", "CC0 1.0",
    ),
    "NCIT": KnownSource(
        "NCI Thesaurus", "National Cancer Institute", "https://evs.nci.nih.gov", "CC BY 4.0"
    ),
    "ORPHA": KnownSource(
        "Orphanet", "INSERM", "https://www.orphadata.com", "CC BY 4.0",
        "Orphanet: an online rare disease and orphan drug data base. © INSERM",
    ),
    "SBSAMPLE": KnownSource(
        "Sample knowledge base of spacy_bergamot", "The spacy_bergamot authors", "", "MIT"
    ),
    "SO": KnownSource(
        "Sequence Ontology", "OBO Foundry", "http://www.sequenceontology.org", "CC BY 4.0"
    ),
    "SYMP": KnownSource(
        "Symptom Ontology", "Institute for Genome Sciences, University of Maryland",
        "https://obofoundry.org/ontology/symp.html", "CC0 1.0",
    ),
    "TRANS": KnownSource(
        "Pathogen Transmission Ontology", "Institute for Genome Sciences, University of Maryland",
        "https://github.com/DiseaseOntology/PathogenTransmissionOntology", "CC0 1.0",
    ),
    "UBERON": KnownSource(
        "Uberon multi-species anatomy ontology", "OBO Foundry", "https://uberon.github.io",
        "CC BY 3.0",
    ),
}  # fmt: skip
"""By the prefix of the accessions; a release that says otherwise is believed."""

SPELLED = {"DO": "DOID", "HPO": "HP", "NCI": "NCIT", "ORDO": "ORPHA", "ORPHANET": "ORPHA"}
"""Other abbreviations of the same ontologies, UMLS's among them."""

UMLS = "MTH"
"""A release with this source is UMLS's."""

_UMLS_ADDRESS = "https://www.nlm.nih.gov/research/umls/sourcereleasedocs/current/{source}"
_CC = re.compile(r"creativecommons\.org/licenses/([a-z-]+)/(\d\.\d)")
_HPO = "hpo.jax.org/app/license"
_CC0 = "creativecommons.org/publicdomain/zero/1.0"


def sources_of(table: ConceptTable, release: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the sources that give names, the most names first.

    The languages of a source that release files keep apart (MSH, MSHGER) are one. A licence by
    which `by` is "table" comes from `KNOWN`, not from the release.

    release (Iterable[Mapping[str, str]]): Of the manifest: source, version, restriction, name,
        and licence and address where the release says them.
    """
    said: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for entry in release:
        said[entry["source"]].append(entry)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    members: dict[str, list[str]] = defaultdict(list)
    rows = table.aliases.select(["source", "language"]).group_by(["source", "language"])
    for row in rows.aggregate([([], "count_all")]).to_pylist():
        base = _base(row["source"], row["language"], said)
        counts[base][row["language"]] += row["count_all"]
        members[base].append(row["source"])
    of_umls = UMLS in said
    found = []
    for base, by_language in counts.items():
        entries = [entry for member in sorted({base, *members[base]}) for entry in said[member]]
        about = _about(base, entries, of_umls=of_umls)
        names = {"names": by_language.total(), "languages": sorted(by_language)}
        found.append(about | names)
    return sorted(found, key=lambda source: (-source["names"], source["source"]))


def _base(source: str, language: str, said: Mapping[str, Any]) -> str:
    """Return HP for HPGER, if there is an HP that anything is known of."""
    base = source.removesuffix(language)
    known = base in said or SPELLED.get(base, base) in KNOWN
    return base if base and base != source and language in LANGUAGES.values() and known else source


def _about(base: str, entries: list[Mapping[str, str]], *, of_umls: bool) -> dict[str, Any]:
    def all_of(key: str) -> str:
        return ", ".join(dict.fromkeys(e[key] for e in entries if e.get(key)))

    known = KNOWN.get(SPELLED.get(base, base))
    names = [e["name"] for e in entries if e.get("name", base) not in ("", base)]
    licences = (licence_name(part) for part in all_of("licence").split(", ") if part)
    facts = {
        "source": base,
        "name": names[0] if names else (known.name if known else base),
        "author": known.author if known else "",
        "version": all_of("version"),
        "licence": ", ".join(dict.fromkeys(licences)),
        "address": all_of("address") or (known.address if known else ""),
        "by": "release",
    }
    level = all_of("restriction")
    if not facts["licence"] and of_umls and level:
        facts["licence"] = f"UMLS Metathesaurus Licence, category {level}"
        facts["address"] = _UMLS_ADDRESS.format(source=base)
    elif not facts["licence"] and known:
        facts |= {"licence": known.licence, "by": "table"}
    if known and known.thanks:
        facts["thanks"] = known.thanks.format(version=facts["version"] or "not known")
    return facts


def licence_name(text: str) -> str:
    """Return the usual name of a licence that is given by its address, or the text itself."""
    if _CC0 in text:
        return "CC0 1.0"
    if _HPO in text:
        return "HPO licence"
    found = _CC.search(text)
    return f"CC {found[1].upper()} {found[2]}" if found else text


def licence_of(sources: Iterable[Mapping[str, Any]], more: Iterable[str] = ()) -> str:
    """Return the licences of all sources in a line, and of what has none that is known.

    more (Iterable[str]): Licences of what else is packaged, such as the base language model.
    """
    sources = list(sources)
    licences = sorted({source["licence"] for source in sources if source["licence"]} | set(more))
    unknown = [source["source"] for source in sources if not source["licence"]]
    text = ", ".join(licences)
    if unknown and licences:
        text += f"; not said for {', '.join(unknown)}"
    return text
