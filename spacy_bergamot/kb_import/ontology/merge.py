"""Which terms are one concept, and what that concept is called."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, combinations

from spacy_bergamot.folding import folded_words
from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.ontology.records import UMLS, Name, Records, prefix_of
from spacy_bergamot.kb_import.ontology.types import PUBLISHED, types_of
from spacy_bergamot.text import normalize


def merge_terms(records: Records, prefer: tuple[str, ...]) -> dict[str, str]:
    """Return {accession: concept id} of every named or mapped term.

    Terms are one concept if a mapping says that they are the same; if they alone of their ontology
    refer to the same CUI and to no other; or if their labels are the same. None of this puts two
    terms of one ontology into a concept: what comes first wins. A CUI that is left goes to the
    concept that alone refers to it. Two terms of one ontology are a concept if a mapping says
    owl:sameAs, or if each has the other's label among its names (HPO's and Orphanet's
    nephroblastoma, which came to two terms of Mondo). Nothing puts two CUIs into a concept. The id
    is the CUI where there is one, else the accession (HP:0001250) of the ontology that comes first
    in `prefer`, then alphabetically.

    records (Records): All that was read.
    prefer (tuple[str, ...]): Prefixes of ontologies.
    """
    groups = _Groups({name.accession for name in records.names})
    english = [*_english_names(records)]
    for kind, pairs in (
        ("mappings", [*dict.fromkeys(records.matches), *_agreed(records.xrefs)]),
        ("labels", _same_label(english)),
    ):
        refused = sum(not groups.join(first, second) for first, second in pairs)
        records.skipped[f"{kind} that would join two terms of one ontology"] += refused
    # Behind the others: two terms of an ontology in a concept keep a third from it.
    for first, second in records.same:
        if not groups.join(first, second, one_of={UMLS}):
            records.skipped["mappings that would join two CUIs"] += 1
    _take_free_cuis(groups, records.xrefs)
    # Of one's own ontologies a concept has at most one term, as nobody published their names.
    one_of = {prefix_of(accession) for accession in groups.named} - PUBLISHED | {UMLS}
    for first, second in _called_alike(english):
        groups.join(first, second, one_of=one_of)
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


def _same_label(names: Iterable[tuple[Name, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of terms of different ontologies whose English labels are the same, folded.

    As UMLS does it, "Neoplasm of the liver" and "Liver neoplasms" are one concept. Without this a
    word as common as hypertension is two, a phenotype and a disease, each with half of the names.
    It holds for the published ontologies whose types are known, within a semantic group (there is
    a stem of plants and one of the brain); terms of one's own are joined by mappings alone.

    names: As of `_english_names`.
    """
    labelled: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, group in names:
        if name.kind == "PT":
            words = sorted(filter(None, (word.folded for word in folded_words(name.text, "ENG"))))
            of_ontology = labelled.setdefault((group, *words), defaultdict(list))
            of_ontology[prefix_of(name.accession)].append(name.accession)
    for of_ontology in labelled.values():
        # A label that two terms of an ontology share tells neither.
        yield from combinations([terms[0] for terms in of_ontology.values() if len(terms) == 1], 2)


def _called_alike(names: Iterable[tuple[Name, str]]) -> list[tuple[str, str]]:
    """Return the pairs of terms each of which has the other's English label among its names.

    Names count as they are written, but for what their normal form leaves out: within an ontology,
    word order can be all that tells two terms apart. Semantic groups as of the same label.

    names: As of `_english_names`.
    """
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    labels: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, group in names:
        key = group, normalize(name.text)
        named[key].add(name.accession)
        if name.kind == "PT":
            labels[key].append(name.accession)
    known = {
        (label, other) for key, terms in labels.items() for label in terms for other in named[key]
    }
    return sorted((a, b) for a, b in known if a < b and (b, a) in known)


def _english_names(records: Records) -> Iterator[tuple[Name, str]]:
    """Yield the English names that are not suppressed of published ontologies' terms.

    Each comes with its term's semantic group, empty where that is not known.
    """
    types = types_of(records.relations, {name.accession for name in records.names})
    group_of = {kind.tui: kind.group for kind in semantic_types()}
    for name in records.names:
        if name.language == "ENG" and not name.suppressed and name.accession in types:
            yield name, group_of.get(types[name.accession], "")


class _Groups:
    """Disjoint sets of accessions, by prefix."""

    def __init__(self, named: set[str]) -> None:
        self.named = named
        self.group_of: dict[str, dict[str, list[str]]] = {}
        for accession in sorted(named):
            self._group(accession)

    def join(self, first: str, second: str, one_of: Collection[str] | None = None) -> bool:
        """Make two terms' concepts one; return False if that is refused.

        first, second (str): The terms. one_of (Collection[str] | None): Prefixes of which a concept
            has at most one term; all of them by default.
        """
        a, b = self._group(first), self._group(second)
        if a is b:
            return True
        shared = a.keys() & b.keys()
        if shared if one_of is None else shared.intersection(one_of):
            return False
        if len(a) < len(b):
            a, b = b, a
        for prefix, accessions in b.items():
            a[prefix] = [*a.get(prefix, ()), *accessions]
            self.group_of.update(dict.fromkeys(accessions, a))
        return True

    def cui_of(self, accession: str) -> str | None:
        """Return the CUI of a term's concept, if it has one."""
        return next(iter(self._group(accession).get(UMLS, ())), None)

    def first_of(self, accession: str) -> str:
        """Return the first term of a term's concept, in the order of the alphabet."""
        return min(chain.from_iterable(self._group(accession).values()))

    def has_names(self, accession: str) -> bool:
        """Tell whether a term's concept has a term with names."""
        return any(not self.named.isdisjoint(terms) for terms in self._group(accession).values())

    def all(self) -> list[list[str]]:
        distinct = {id(group): group for group in self.group_of.values()}
        return sorted(sorted(chain.from_iterable(group.values())) for group in distinct.values())

    def _group(self, accession: str) -> dict[str, list[str]]:
        prefix = prefix_of(accession) or accession
        return self.group_of.setdefault(accession, {prefix: [accession]})
