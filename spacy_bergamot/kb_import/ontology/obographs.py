"""OBO graphs in JSON (github.com/geneontology/obographs).

Read as plain JSON: OBO libraries refuse real files for one identifier that they cannot parse.
"""

from collections import Counter
from typing import IO, Any

from spacy_bergamot.inputs import Malformed, decoded, parsed
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.records import Records, accession_of, prefix_of
from spacy_bergamot.kb_import.ontology.sources import LICENCE, TITLE, own_prefix, version_of


def read_obographs(stream: IO[bytes], where: str, records: Records) -> None:
    """Add the classes of a document that are not deprecated.

    stream (IO): The open file. where (str): Its name, for messages.
    records (Records): Gets what is read.
    RAISES (BergamotError): T116.
    """
    data = stream.read()
    try:
        graphs = parsed(decoded(data).removeprefix("\ufeff"))["graphs"]
        for graph in graphs:
            _graph(graph, records)
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        what = "OBO graphs"
        place = f"{where}:{reason.line}" if isinstance(reason, Malformed) else where
        raise BergamotError(Errors.T116, path=place, what=what, reason=reason) from None


def _graph(graph: dict[str, Any], records: Records) -> None:
    prefixes: Counter[str] = Counter()
    for node in graph.get("nodes") or []:
        identifier, label = node.get("id", ""), node.get("lbl")
        accession = accession_of(identifier)
        if node.get("type") == "PROPERTY" and label:
            records.labels[accession or identifier] = label
        elif node.get("type") == "CLASS" and label and accession:
            _class(accession, label, node.get("meta") or {}, records)
            prefixes[prefix_of(accession)] += 1
    for edge in graph.get("edges") or []:
        subject, target = accession_of(edge["sub"]), accession_of(edge["obj"])
        if subject and target:
            records.relations.append((subject, accession_of(edge["pred"]) or edge["pred"], target))
    if prefixes:
        records.sources.say(own_prefix(prefixes), **_header(graph.get("meta") or {}))


def _header(meta: dict[str, Any]) -> dict[str, str]:
    """Return version, licence and name that a graph says of itself."""
    said = {"version": version_of(str(meta.get("version") or ""))}
    for entry in meta.get("basicPropertyValues") or []:
        if entry["pred"].endswith(LICENCE):
            said["licence"] = entry["val"]
        elif entry["pred"].endswith(TITLE):
            said["name"] = entry["val"]
    return said


def _class(accession: str, label: str, meta: dict[str, Any], records: Records) -> None:
    if meta.get("deprecated"):
        records.obsolete.add(accession)
        return
    records.name(accession, label, "PT", suppressed=False)
    for synonym in meta.get("synonyms") or []:
        records.synonym(accession, synonym["val"], synonym["pred"])
    for xref in meta.get("xrefs") or []:
        if other := accession_of(xref["val"]):
            records.xrefs.append((accession, other))
    if meta.get("definition"):
        records.definition(accession, meta["definition"]["val"])
