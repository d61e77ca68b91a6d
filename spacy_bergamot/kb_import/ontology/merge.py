"""Which terms are one concept, and what that concept is called."""

from collections import Counter
from collections.abc import Iterable

from spacy_bergamot.kb_import.ontology.records import UMLS, Records, prefix_of


def merge_terms(records: Records, prefer: tuple[str, ...]) -> dict[str, str]:
    """Return {accession: concept id} of every named or mapped term.

    Terms are one concept if a mapping says that they are the same, or if they alone of their
    ontology refer to the same CUI and to no other. Nothing puts two terms of one ontology into a

    records (Records): All that was read.
    concept: the first mapping wins. The id is the CUI where there is one, else the accession
    (HP:0001250) of the ontology that comes first in `prefer`, then alphabetically.
    """
    groups = _Groups({name.accession for name in records.names})
    pairs = list(dict.fromkeys(records.matches)) + _agreed(records.xrefs)
    for first, second in pairs:
        if not groups.join(first, second):
            records.skipped["mappings that would join two terms of one ontology"] += 1
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

    def all(self) -> list[list[str]]:
        distinct = {id(group): group for group in self.group_of.values()}
        return sorted(sorted(group.values()) for group in distinct.values())

    def _group(self, accession: str) -> dict[str, str]:
        prefix = prefix_of(accession) or accession
        return self.group_of.setdefault(accession, {prefix: accession})
