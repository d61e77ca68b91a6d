"""Classifications as their publishers' text files, and what their codes say of parents.

ICD-10-GM, OPS and ICD-10 have tables of codes, of blocks and of chapters with `;` between columns,
and an alphabet with `|`; which one a file is, its name says: icd10gm2025syst_kodes.txt. Neither
has a header.
"""

import re
from collections.abc import Callable, Sequence
from typing import IO

from spacy_bergamot.inputs import Malformed, decoded_lines
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.records import PREFIXES, Records

_FILE = re.compile(
    r"(icd10gm|icd10who|icd10|ops)(\d{4})_?(?:syst.?|(alpha))"
    r"(kodes|codes|gruppen|groups|blocks|kapitel|chapters|dreisteller)?[^/]*\.(?:txt|csv)$",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Z]\d\d(\.\d{1,2})?|\d-\d\w(\w(\.\w{1,2})?)?")
_MARKS = "+*!#†-."  # dagger, asterisk, exclamation mark; `.-` says that digits follow
_SHORT = re.compile(r"\s*\[((?=[^\]]*[A-ZÄÖÜ][^\]]*[A-ZÄÖÜ])[^\s\[\]]{2,12})\]")
_BLOCK = re.compile(r"([A-Z]\d\d)-([A-Z]\d\d)|(\d-\d\w)\.\.\.(\d-\d\w)")
_ROMAN = (
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV",
    "XVI", "XVII", "XVIII", "XIX", "XX", "XXI", "XXII",
)  # fmt: skip
_CATEGORY = {"ICD10": 3, "ICD10GM": 3, "OPS": 4, "ATC": 1}
"""Characters of the codes right below the blocks."""
_ATC = re.compile(r"[A-Z](\d\d([A-Z]([A-Z](\d\d)?)?)?)?")
_ATC_LENGTHS = (1, 3, 4, 5, 7)

Add = Callable[[list[str]], bool]


def read_classification(stream: IO[bytes], where: str, records: Records) -> bool:
    """Add a file's rows; return False for a name of no known form.

    stream (IO): The open file. where (str): Its name, for messages.
    records (Records): Gets what is read.
    RAISES (BergamotError): T116 for a file that is not UTF-8.
    """
    found = _FILE.match(re.split(r"[/\\:]", where)[-1])  # a member stands behind its archive's name
    if found is None:
        return False
    name, year, alphabet, table = (part.lower() for part in found.groups(""))
    prefix = PREFIXES.get(name.upper(), name.upper())
    records.sources.say(prefix, version=year)
    made = _Classification(prefix, "ENG" if name == "icd10" else "GER", records)
    add = made.alphabet if alphabet else made.tables().get(table)
    if add is None:
        return False
    try:
        for number, line in decoded_lines(stream):
            fields = [field.strip() for field in line.split("|" if alphabet else ";")]
            if line.strip() and not add(fields):
                records.malformed(f"{where}:{number}", line[:120])
    except Malformed as reason:
        place = f"{where}:{reason.line}"
        raise BergamotError(Errors.T116, path=place, what="a table", reason=reason) from None
    return True


class _Classification:
    """Adds rows of one classification in one language; each method tells whether a row is good."""

    def __init__(self, prefix: str, language: str, records: Records) -> None:
        self.prefix = prefix
        self.language = language
        self.records = records

    def tables(self) -> dict[str, Add]:
        """Return what adds a row of each table, by the names that publishers give it."""
        named: list[tuple[Add, str]] = [
            (self.code, "kodes codes"), (self.block, "gruppen groups blocks"),
            (self.chapter, "kapitel chapters"), (self.category, "dreisteller"),
        ]  # fmt: skip
        return {name: add for add, names in named for name in names.split()}

    def code(self, fields: list[str]) -> bool:
        """Chapter in the fourth column, code in the seventh, title in the ninth."""
        if len(fields) < 9 or not _is_code(fields[6]) or not fields[8]:
            return False
        self._add(fields[6], fields[8], "PT", chapter=fields[3])
        return True

    def block(self, fields: list[str]) -> bool:
        """First and last category, chapter, title."""
        ends = [field for field in fields[:-1] if _is_code(field)]
        chapters = [field for field in fields[:-1] if field.isdigit()]
        if len(ends) < 2 or not fields[-1]:
            return False
        between = "..." if self.prefix == "OPS" else "-"
        self._add(between.join(ends[:2]), fields[-1], "PT", chapter="".join(chapters[:1]))
        return True

    def chapter(self, fields: list[str]) -> bool:
        """Number, title."""
        if not fields[0].isdigit() or len(fields) < 2 or not fields[-1]:
            return False
        self._add(self._chapter(fields[0]), fields[-1], "PT")
        return True

    def category(self, fields: list[str]) -> bool:
        """Whatever it is in; then the category of OPS (1-10) and its title."""
        codes = [field for field in fields[:-1] if _is_code(field)]
        if not codes or not fields[-1]:
            return False
        self._add(codes[-1], fields[-1], "PT")
        return True

    def alphabet(self, fields: list[str]) -> bool:
        """Numbers and marks, then codes of which the first counts, then the text."""
        codes = [code for code in (f.rstrip(_MARKS) for f in fields[:-1]) if _is_code(code)]
        if not codes or not fields[-1]:
            return False
        for text in fields[-1].split(" - s.a. "):  # "see also": the code is that of both
            self._add(codes[0], text, "SY")
        return True

    def _add(self, code: str, text: str, kind: str, *, chapter: str = "") -> None:
        """Add a name, without the short forms that stand in brackets, and these."""
        accession = f"{self.prefix}:{code}"
        named = [(_SHORT.sub("", text), kind), *((short, "AB") for short in _SHORT.findall(text))]
        for name, term_type in named:
            self.records.name(accession, name, term_type, language=self.language, suppressed=False)
        self.records.codes.setdefault(accession, (self.prefix, code))
        above = f"{self.prefix}:{self._chapter(chapter)}" if chapter else ""
        self.records.classified[accession] = self.records.classified.get(accession) or above

    def _chapter(self, number: str) -> str:
        """ICD's chapters have Roman numbers, also where a file writes 01."""
        place = int(number) if number.isdigit() else 0
        roman = self.prefix != "OPS" and 0 < place <= len(_ROMAN)
        return _ROMAN[place - 1] if roman else str(place or number)


def is_atc(code: str) -> bool:
    """Tell whether a code is one of the Anatomical Therapeutic Chemical classification."""
    return bool(_ATC.fullmatch(code))


def add_parents(records: Records) -> None:
    """Add the parents that codes say.

    They are the nearest shorter code that has a name, else the smallest block around it, else its
    chapter.

    records (Records): What was read; its relations grow.
    """
    named = {name.accession for name in records.names}
    blocks: dict[str, list[str]] = {}
    for accession in records.classified:
        prefix, _, code = accession.partition(":")
        if _ends(code):
            blocks.setdefault(prefix, []).append(code)
    for accession, chapter in records.classified.items():
        prefix, _, code = accession.partition(":")
        around = _smallest_around(code, prefix, blocks.get(prefix, []))
        above = [f"{prefix}:{one}" for one in (*_shorter(code, prefix), *around)]
        parent = next((one for one in (*above, chapter) if one in named), None)
        if parent and accession in named:
            records.relations.append((accession, "is_a", parent))


def _shorter(code: str, prefix: str) -> list[str]:
    """Return the codes above one, nearest first."""
    if _BLOCK.fullmatch(code):
        return []
    if prefix == "ATC":
        return [code[:n] for n in reversed(_ATC_LENGTHS) if n < len(code)]
    cut = (code[:n].rstrip(".") for n in range(len(code) - 1, _CATEGORY[prefix] - 1, -1))
    return list(dict.fromkeys(one for one in cut if one != code))


def _smallest_around(code: str, prefix: str, blocks: Sequence[str]) -> list[str]:
    """Return the smallest other block that a code or block lies in, if there is one."""
    first, last = _ends(code) or (code[: _CATEGORY[prefix]],) * 2
    ends = {block: _ends(block) or ("", "") for block in blocks if block != code}
    around = [block for block, (a, z) in ends.items() if a <= first and last <= z]
    latest = max((ends[block][0] for block in around), default="")
    inner = [block for block in around if ends[block][0] == latest]
    return sorted(inner, key=lambda block: ends[block][1])[:1]


def _ends(code: str) -> tuple[str, str] | None:
    found = _BLOCK.fullmatch(code)
    return (found[1] or found[3], found[2] or found[4]) if found else None


def _is_code(text: str) -> bool:
    return bool(_CODE.fullmatch(text))
