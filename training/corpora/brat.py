"""BRAT standoff: an `.ann` beside every `.txt`; QUAERO, CANTEMIST, NEREL-BIO, Mantra and others.

`T1<tab>DISO 0 5;9 12<tab>mention` is a mention, `#1<tab>AnnotatorNotes T1<tab>C0012634` a note with
its ids, `N1<tab>Reference T1 UMLS:C0012634<tab>name` a normalisation. Offsets are characters.
Mantra's mentions have the CUI for their type, and the semantic group at the end of a note such as
`"C0012634", "disease", "Disease or Syndrome" ,"DISO"`.
"""

import re
from pathlib import Path

from training.corpora.builder import CorpusBuilder
from training.corpora.text import language_of, numbered, read_text

_CUI = re.compile(r"\bC\d{7}\b")
OFFSETS = re.compile(r"\d+ \d+(;\d+ \d+)*")
_GROUP = re.compile(r"""["']([A-Z]{4})["']\s*$""")
_BARE, _CODED = "-ner", "-norm"


def sniff(path: Path, head: str) -> bool:
    """Tell whether a file is BRAT's annotations; see `Form`."""
    return path.suffix == ".ann"


def read(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read the `.ann` files; a document is called by its path in the folder.

    CANTEMIST has every document twice, in cantemist-ner without codes and in cantemist-norm with
    them: where both are there, the ones with codes are read.
    """
    known = set(files)
    for path in files:
        folder = path.parent.name
        if folder.endswith(_BARE):
            coded = path.parent.with_name(folder.removesuffix(_BARE) + _CODED) / path.name
            if coded in known:
                builder.skip("document that comes again with codes", path)
                continue
        document = path.relative_to(root).with_suffix("").as_posix()
        text = path.with_suffix(".txt")
        if text.is_file():
            language = language_of(Path(*root.parts[-2:], document))
            builder.document(document, read_text(text), language=language, place=text)
        else:
            builder.skip("annotations without their text file", path)
        _read_annotations(path, document, builder)


def _read_annotations(path: Path, document: str, builder: CorpusBuilder) -> None:
    mentions: dict[str, tuple[str, str, list[tuple[int, int]], str]] = {}
    ids: dict[str, list[str]] = {}
    groups: dict[str, str] = {}
    for number, line in numbered(path):
        place, fields = f"{path}:{number}", line.split("\t")
        kind, middle = line[0], fields[1] if len(fields) > 1 else ""
        if kind == "T":
            label, _, offsets = middle.partition(" ")
            if len(fields) < 3 or not OFFSETS.fullmatch(offsets):
                builder.skip("malformed line", place)
                continue
            mentions[fields[0]] = (label, fields[2], parse_spans(offsets), place)
        elif kind == "#" and len(fields) > 2:
            found, target = _ids_of_note(fields[2]), middle.rpartition(" ")[2]
            group = _GROUP.search(fields[2])
            if group:
                groups[target] = group[1]
            elif not found:
                builder.skip("note without an id", place)
            ids.setdefault(target, []).extend(found)
        elif kind == "N" and len(middle.split()) == 3:
            _, target, reference = middle.split()
            ids.setdefault(target, []).append(reference)
        elif kind in "RE*AM":
            builder.skip("relation, event or attribute", place)
        else:
            builder.skip("malformed line", place)
    for name, (label, mention, spans, place) in mentions.items():
        known = ids.pop(name, [])
        if _CUI.fullmatch(label):
            label, known = "", [label, *known]
        label = groups.get(name, label)
        builder.mention(document, mention, known, place=place, spans=spans, type=label)
    if ids:
        builder.skip("id of a mention that is not there", f"{path} {next(iter(ids))}", len(ids))


def parse_spans(text: str) -> list[tuple[int, int]]:
    """Return the offsets of `1 5;8 12`."""
    return [(int(start), int(end)) for start, end in (part.split() for part in text.split(";"))]


def _ids_of_note(note: str) -> list[str]:
    """Return the CUIs of a note, or its words if each looks like a code such as 8000/6."""
    found = _CUI.findall(note)
    if found:
        return found
    words = re.split(r"[\s,;|+]+", note.strip())
    return words if all(re.search(r"\d", word) for word in words) else []
