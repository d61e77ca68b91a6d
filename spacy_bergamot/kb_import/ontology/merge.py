"""Which terms are one concept, and what that concept is called."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, combinations

from spacy_bergamot.folding import folded_words
from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.ontology.records import UMLS, Records, prefix_of
from spacy_bergamot.kb_import.ontology.types import types_of


def merge_terms(records: Records, prefer: tuple[str, ...]) -> dict[str, str]:
    """Return {accession: concept id} of every named or mapped term.

    Terms are one concept if a mapping says that they are the same; if they alone of their ontology
    refer to the same CUI and to no other; or if their labels are the same. Nothing puts two terms
    of one ontology, or two CUIs, into a concept: what comes first wins. A CUI that is left goes to
    the concept that alone refers to it. The id is the CUI where there is one, else the accession
    (HP:0001250) of the ontology that comes first in `prefer`, then alphabetically.

    records (Records): All that was read.
    prefer (tuple[str, ...]): Prefixes of ontologies.
    """
    groups = _Groups({name.accession for name in records.names})
    for kind, pairs in (
        ("mappings", [*dict.fromkeys(records.matches), *_agreed(records.xrefs)]),
        ("labels", _same_label(records)),
    ):
        refused = sum(not groups.join(first, second) for first, second in pairs)
        records.skipped[f"{kind} that would join two terms of one ontology"] += refused
    _take_free_cuis(groups, records.xrefs)
    rank = {prefix: number for number, prefix in enumerate((UMLS, *prefer))}
    ids = {}
    for members in groups.all():
        named = [a for a in members if a in groups.named or prefix_of(a) == UMLS]
        if not any(a in groups.named for a in members):
            continue
        best = min(named, key=lambda a: (rank.get(prefix_of(a), len(rank)), a))
        prefix, _, local = best.rpartition(":")
        concept = local if prefix == UMLS else best
        ids.update(dict.fromkeys(members, concept))
    return ids


def _agreed(xrefs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of term and CUI where each is the only one of its kind to the other."""
    pairs = sorted({pair for pair in xrefs if prefix_of(pair[1]) == UMLS})
    cuis = Counter(accession for accession, _ in pairs)
    terms = Counter((prefix_of(accession), cui) for accession, cui in pairs)
    return [(a, cui) for a, cui in pairs if cuis[a] == 1 and terms[prefix_of(a), cui] == 1]


def _take_free_cuis(groups: "_Groups", xrefs: Iterable[tuple[str, str]]) -> None:
    """Give CUIs that are nobody's to the concepts that refer to them, where that is clear.

    It is where a concept refers to one free CUI, and no other concept to this one alone. What is
    taken leaves the others fewer to choose from: of dyspnea (C0013404) and respiratory distress
    (C0013404, C0476273) the second has C0476273 then.
    """
    wanted: dict[str, set[str]] = defaultdict(set)
    for accession, cui in xrefs:
        if prefix_of(cui) == UMLS and groups.cui_of(accession) is None:
            wanted[groups.first_of(accession)].add(cui)
    taken = {cui for cui in set(chain.from_iterable(wanted.values())) if groups.has_names(cui)}
    while True:
        wanted = {concept: left for concept, cuis in wanted.items() if (left := cuis - taken)}
        sole = {concept: next(iter(cuis)) for concept, cuis in wanted.items() if len(cuis) == 1}
        takers = Counter(sole.values())
        new = {concept: cui for concept, cui in sole.items() if takers[cui] == 1}
        if not new:
            return
        for concept, cui in new.items():
            groups.join(concept, cui)
        taken.update(new.values())


def _same_label(records: Records) -> Iterator[tuple[str, str]]:
    """Yield the pairs of terms of different ontologies whose English labels are the same, folded.

    As UMLS does it, "Neoplasm of the liver" and "Liver neoplasms" are one concept. Without this a
    word as common as hypertension is two, a phenotype and a disease, each with half of the names.
    It holds for the published ontologies whose types are known, within a semantic group (there is
    a stem of plants and one of the brain); terms of one's own are joined by mappings alone.
    """
    types = types_of(records.relations, {name.accession for name in records.names})
    group_of = {kind.tui: kind.group for kind in semantic_types()}
    labelled: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in records.names:
        if (
            name.kind == "PT"
            and name.language == "ENG"
            and not name.suppressed
            and name.accession in types
        ):
            words = sorted(filter(None, (word.folded for word in folded_words(name.text, "ENG"))))
            key = (group_of.get(types[name.accession], ""), *words)
            of_ontology = labelled.setdefault(key, defaultdict(list))
            of_ontology[prefix_of(name.accession)].append(name.accession)
    for of_ontology in labelled.values():
        # A label that two terms of an ontology share tells neither.
        yield from combinations([terms[0] for terms in of_ontology.values() if len(terms) == 1], 2)


class _Groups:
    """Disjoint sets of accessions with at most one of each prefix."""

    def __init__(self, named: set[str]) -> None:
        self.named = named
        self.group_of: dict[str, dict[str, str]] = {}
        for accession in sorted(named):
            self._group(accession)

    def join(self, first: str, second: str) -> bool:
        a, b = self._group(first), self._group(second)
        if a is b:
            return True
        if a.keys() & b.keys():
            return False
        if len(a) < len(b):
            a, b = b, a
        a.update(b)
        self.group_of.update(dict.fromkeys(b.values(), a))
        return True

    def cui_of(self, accession: str) -> str | None:
        """Return the CUI of a term's concept, if it has one."""
        return self._group(accession).get(UMLS)

    def first_of(self, accession: str) -> str:
        """Return the first term of a term's concept, in the order of the alphabet."""
        return min(self._group(accession).values())

    def has_names(self, accession: str) -> bool:
        """Tell whether a term's concept has a term with names."""
        return not self.named.isdisjoint(self._group(accession).values())

    def all(self) -> list[list[str]]:
        distinct = {id(group): group for group in self.group_of.values()}
        return sorted(sorted(group.values()) for group in distinct.values())

    def _group(self, accession: str) -> dict[str, str]:
        prefix = prefix_of(accession) or accession
        return self.group_of.setdefault(accession, {prefix: accession})
