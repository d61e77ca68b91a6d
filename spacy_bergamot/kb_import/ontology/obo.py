"""OBO files, read by fastobo, frame by frame."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Any

from spacy_bergamot.errors import importing
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.records import Records, accession_of, prefix_of
from spacy_bergamot.kb_import.ontology.sources import LICENCE, TITLE, own_prefix, version_of

_VERSION, _PROPERTY = "data-version", "property_value"


def read_obo(stream: IO[bytes], where: str, records: Records) -> None:
    """Add the terms of an OBO file that are not obsolete; a frame with an error is left out.

    stream (IO): The open file. where (str): Its name, for messages.
    records (Records): Gets what is read.
    RAISES (BergamotError): B109 without fastobo, T116 for a file that is no OBO.
    """
    with importing("Reading OBO", packages="fastobo"):
        import fastobo
    try:
        frames = fastobo.iter(stream, ordered=True)
        header = _header(frames.header())
        prefixes: Counter[str] = Counter()
        read = 0
        for frame in _frames(frames, where, records):
            read += 1
            clauses = [(clause.raw_tag(), clause) for clause in frame]
            accession = accession_of(str(frame.id))
            if isinstance(frame, fastobo.typedef.TypedefFrame):
                _label(str(frame.id), clauses, records)
            elif isinstance(frame, fastobo.term.TermFrame) and accession:
                _term(accession, clauses, records)
                prefixes[prefix_of(accession)] += 1
        if not read:
            raise ValueError("no frame of it can be read")
        records.sources.say(own_prefix(prefixes), **header)
    except BergamotError:
        raise
    except (SyntaxError, ValueError, TypeError) as reason:
        stream.read(1)  # where reading failed it fails again: fastobo hides why
        place = f"{where}:{reason.lineno}" if isinstance(reason, SyntaxError) else where
        raise BergamotError(Errors.T116, path=place, what="OBO", reason=reason) from None


def _header(clauses: Iterable[Any]) -> dict[str, str]:
    """Return version, licence and name that the clauses of a header say."""
    said = {}
    for clause in clauses:
        tag, value = clause.raw_tag(), clause.raw_value()
        if tag == _VERSION:
            said["version"] = version_of(value)
        elif tag == _PROPERTY:
            name, _, rest = value.partition(" ")
            text = rest.split('"')[1] if rest.startswith('"') else rest.split(" ")[0]
            if name.endswith(LICENCE):
                said["licence"] = text
            elif name.endswith(TITLE):
                said["name"] = text
    return said


def _frames(frames: Iterator[Any], where: str, records: Records) -> Iterator[Any]:
    """Yield the frames that can be parsed and count the others."""
    while True:
        try:
            frame = next(frames, None)
        except SyntaxError as reason:
            records.malformed(f"{where}:{reason.lineno}", f"frame left out: {reason.msg}")
            continue
        if frame is None:
            return
        yield frame


def _label(identifier: str, clauses: list, records: Records) -> None:
    for tag, clause in clauses:
        if tag == "name":
            records.labels[accession_of(identifier) or identifier] = clause.name


def _term(accession: str, clauses: list, records: Records) -> None:
    if any(tag == "is_obsolete" and clause.obsolete for tag, clause in clauses):
        records.obsolete.add(accession)
        return
    for tag, clause in clauses:
        if tag == "name":
            records.name(accession, clause.name, "PT", suppressed=False)
        elif tag == "synonym":
            records.synonym(accession, clause.synonym.desc, clause.synonym.scope)
        elif tag == "def":
            records.definition(accession, str(clause.definition))
        elif tag == "xref" and (other := accession_of(str(clause.xref.id))):
            records.xrefs.append((accession, other))
        elif tag == "is_a":
            _relate(records, accession, "is_a", str(clause.term))
        elif tag == "relationship":
            _relate(records, accession, str(clause.typedef), str(clause.term))


def _relate(records: Records, subject: str, predicate: str, identifier: str) -> None:
    if other := accession_of(identifier):
        records.relations.append((subject, accession_of(predicate) or predicate, other))
