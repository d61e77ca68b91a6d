"""JSON lines: records of BigBIO's kb schema, and the project's own gold sentences."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy_bergamot.inputs import Malformed, parsed
from spacy_bergamot.languages import LANGUAGES
from training.corpora.builder import CorpusBuilder
from training.corpora.text import numbered, read_text
from training.errors import BergamotError, Errors

_WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


def json_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and record of JSON lines, or of a `.json` with a list of records.

    RAISES (BergamotError): B057 naming the line that is no JSON object.
    """
    if path.suffix == ".json":
        text = read_text(path).removeprefix("\ufeff")
        for number, record in enumerate(_parsed(path, text, 1) if text.strip() else [], start=1):
            yield f"{path} record {number}", _object(path, 1, record)
        return
    for number, line in numbered(path):
        yield f"{path}:{number}", _object(path, number, _parsed(path, line, number))


def _parsed(path: Path, text: str, line: int) -> Any:
    try:
        return parsed(text, line)
    except Malformed as reason:
        said = f"no JSON: {reason}"
        raise BergamotError(Errors.B057, path=path, line=reason.line, reason=said) from None


def _object(path: Path, line: int, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise BergamotError(Errors.B057, path=path, line=line, reason=f"no JSON object: {record}")
    return record


def _is_json(path: Path) -> bool:
    return path.name.endswith((".jsonl", ".json", ".jsonl.gz"))


def sniff_bigbio(path: Path, head: str) -> bool:
    """Tell whether a file is BigBIO's records; see `Form`."""
    return _is_json(path) and '"passages"' in head


def sniff_gold(path: Path, head: str) -> bool:
    """Tell whether a file is this project's own gold records; see `Form`."""
    others = ('"passages"', '"UMLS_CUI"')
    return _is_json(path) and '"text"' in head and not any(key in head for key in others)


def read_bigbio(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `document_id, passages, entities` with `offsets, text, type, normalized`.

    Records without passages (CodiEsp) give mentions alone. Entities that differ in type alone
    (MedMentions has one for each semantic type) are one mention with all of the types.
    """
    for path in files:
        for place, record in json_records(path):
            try:
                _take_bigbio(record, builder, place)
            except _WRONG as reason:
                builder.skip(f"malformed record ({type(reason).__name__})", place)


def _take_bigbio(record: dict[str, Any], builder: CorpusBuilder, place: str) -> None:
    document, text = str(record["document_id"]), ""
    for passage in record["passages"]:
        for piece, (start, _) in zip(passage["text"], passage["offsets"], strict=True):
            text = text.ljust(start)[:start] + piece
    if text:
        builder.document(document, text, place=place)
    types: dict[tuple[Any, ...], list[str]] = {}
    for entity in record["entities"]:
        ids = [_prefixed(entry["db_name"], entry["db_id"]) for entry in entity["normalized"]]
        spans = tuple((start, end) for start, end in entity["offsets"])
        types.setdefault((" ".join(entity["text"]), tuple(ids), spans), []).append(entity["type"])
    for (mention, ids, spans), kinds in types.items():
        builder.mention(
            document,
            mention,
            ids,
            place=place,
            spans=spans if text else (),
            type=",".join(dict.fromkeys(kinds)),
        )


def _prefixed(vocabulary: str | None, code: str | None) -> str:
    """Return `MESH:D003920`; a code that has a prefix already keeps it."""
    code = (code or "").strip()
    return code if not code or not vocabulary or ":" in code else f"{vocabulary}:{code}"


def read_gold(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read `{"id", "language", "text", "entities": [{"start", "end", "concept_id"}]}` lines.

    `concept_id` may be NIL, or `C1|C2` for alternatives; `label` is the entity's type.
    """
    for path in files:
        for place, record in json_records(path):
            try:
                _take_gold(record, builder, place, path)
            except _WRONG as reason:
                builder.skip(f"malformed record ({type(reason).__name__})", place)


def _take_gold(record: dict[str, Any], builder: CorpusBuilder, place: str, path: Path) -> None:
    number = place.rpartition(":")[2]
    document = str(record.get("id") or f"{path.name.partition('.')[0]}-{number}")
    code = record.get("language", "")
    builder.document(
        document, record["text"], language=LANGUAGES.get(code.lower(), code), place=place
    )
    for entity in record["entities"]:
        builder.mention(
            document,
            entity.get("text"),
            entity["concept_id"].split("|"),
            place=place,
            spans=[(entity["start"], entity["end"])],
            type=entity.get("label", ""),
        )
