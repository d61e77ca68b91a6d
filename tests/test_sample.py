"""The embedded sample: how its sources are compiled, and what the committed files hold."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

Result = subprocess.CompletedProcess[str]
SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample"
WIDTHS = {"MRCONSO.RRF": 18, "MRREL.RRF": 16, "MRSTY.RRF": 6, "MRDEF.RRF": 8, "MRSAB.RRF": 25}
CONCEPTS = """\
    # An invented corner of medicine.
    C9000001|T047|Glimmer fever
    def: A fever that glimmers.
    ENG: glimmer fever; shining fever; GF*
    SPA: fiebre brillante; FB*
    isa: C9000002
    finding_site: C9000003

    C9000002|T047+T184|Fever
    GER: Fieber; GF*

    C9000003|T023|Glimmer gland
    part_of: C9000004

    C9000004|T022|Glimmer system

    C9000005|T121|Dimmerol
    may_treat: C9000001
    contraindicated_with: C9000003

    C9000006|T121|Dimmax
    tradename_of: C9000005
    associated_with: C9000005
"""
GOLD = """\
    # Two languages, the later one first.
    SPA\tEl niño tiene [fiebre brillante|C9000001].
    ENG\t[GF|C9000001] was treated with [Dimmax|C9000006], [rest|NIL] and tea.
    ENG\tNothing to report.
"""
BROKEN_CONCEPTS = """\
    C9000001|T047|One
    isa: C9999999; C9000001; nonsense
    cures: C9000002
    GRM: Eins
    SPA: uno|dos; ; tres
    SPA: cuatro
    gibberish

    C9000002||Two
    C9000003|T999|Three

    C9000001|T047|One again

    not a concept
    isa: C9000003
"""
BROKEN_GOLD = """\
    ENG\tA [thing|C9999999] and a [broken|mark].
    ENG no tab
    XXX\tNo such language.
    ENG\tOuter [ space|NIL].
"""


def script(name: str, *args: object) -> Result:
    """Run a script of the sample as its users do."""
    command = [sys.executable, str(SAMPLE / name), *map(str, args)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def rows(folder: Path, table: str) -> list[list[str]]:
    """Read the rows of an RRF file, without the empty field after the last bar."""
    content = (folder / "META" / table).read_text(encoding="utf-8")
    assert content.endswith("|\n")
    return [line.split("|")[:-1] for line in content.removesuffix("\n").split("\n")]


def edges(folder: Path) -> set[tuple[str, str, str, str]]:
    """Return (CUI1, REL, CUI2, RELA) of every row of MRREL."""
    return {(row[0], row[3], row[4], row[7]) for row in rows(folder, "MRREL.RRF")}


def build(folder: Path, *flags: str, concepts: str = CONCEPTS, gold: str = GOLD) -> Result:
    """Write a source of one file of each kind to a folder, and compile it into that folder."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "concepts_a.txt").write_text(dedent(concepts), encoding="utf-8")
    (source / "gold_a.txt").write_text(dedent(gold), encoding="utf-8")
    return script("build.py", "--source", source, "--out", folder, *flags)


def read_gold(folder: Path) -> list[dict]:
    """Read the sentences of a gold standard."""
    with (folder / "gold" / "gold.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """The output folder of the invented source."""
    folder = tmp_path_factory.mktemp("tiny")
    result = build(folder)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("table", WIDTHS)
def test_rows_have_the_columns_of_a_release(tiny, table):
    assert {len(row) for row in rows(tiny, table)} == {WIDTHS[table]}


def test_names_carry_language_rank_and_source(tiny):
    columns = (1, 2, 4, 6, 11, 12, 14)  # LAT TS STT ISPREF SAB TTY STR
    names = [row for row in rows(tiny, "MRCONSO.RRF") if row[0] == "C9000001"]
    assert [" ".join(row[column] for column in columns) for row in names] == [
        "ENG P PF Y SBSAMPLE PT Glimmer fever",
        "ENG P VO N SBSAMPLE SY glimmer fever",
        "ENG S PF N SBSAMPLE SY shining fever",
        "ENG S PF N SBSAMPLE AB GF",
        "SPA P PF Y SBSAMPLESPA PT fiebre brillante",
        "SPA S PF N SBSAMPLESPA AB FB",
    ]
    assert {(row[13], row[16]) for row in names} == {("S9000001", "N")}


def test_identifiers_are_unique_where_they_must_be(tiny):
    auis = [row[7] for row in rows(tiny, "MRCONSO.RRF")]
    ruis = [row[8] for row in rows(tiny, "MRREL.RRF")]
    atuis = [row[4] for row in rows(tiny, "MRSTY.RRF")]
    atuis += [row[2] for row in rows(tiny, "MRDEF.RRF")]
    for identifiers in (auis, ruis, atuis):
        assert len(set(identifiers)) == len(identifiers)
    terms = {(row[3], row[1], row[14].lower()) for row in rows(tiny, "MRCONSO.RRF")}
    assert len({term[0] for term in terms}) == len({term[1:] for term in terms}) == len(terms)


def test_relations_say_what_the_second_concept_is_to_the_first(tiny):
    assert edges(tiny) == {
        ("C9000002", "CHD", "C9000001", "isa"),
        ("C9000001", "PAR", "C9000002", "inverse_isa"),
        ("C9000003", "RO", "C9000001", "has_finding_site"),
        ("C9000001", "RO", "C9000003", "finding_site_of"),
        ("C9000004", "RO", "C9000003", "part_of"),
        ("C9000003", "RO", "C9000004", "has_part"),
        ("C9000001", "RO", "C9000005", "may_treat"),
        ("C9000005", "RO", "C9000001", "may_be_treated_by"),
        ("C9000003", "RO", "C9000005", "contraindicated_with_disease"),
        ("C9000005", "RO", "C9000003", "contraindicating_class_of"),
        ("C9000005", "RN", "C9000006", "tradename_of"),
        ("C9000006", "RB", "C9000005", "has_tradename"),
        ("C9000005", "RO", "C9000006", "associated_with"),
        ("C9000006", "RO", "C9000005", "associated_with"),
    }


def test_relations_point_at_preferred_atoms(tiny):
    names = rows(tiny, "MRCONSO.RRF")
    preferred = {row[0]: row[7] for row in names if row[1] == "ENG" and row[6] == "Y"}
    for row in rows(tiny, "MRREL.RRF"):
        assert (row[1], row[5]) == (preferred[row[0]], preferred[row[4]])


def test_types_and_definitions(tiny):
    types = {" ".join(row[:4]) for row in rows(tiny, "MRSTY.RRF")}
    assert len(types) == 7
    assert "C9000002 T047 B2.2.1.2.1 Disease or Syndrome" in types
    assert "C9000002 T184 A2.2.2 Sign or Symptom" in types
    (definition,) = rows(tiny, "MRDEF.RRF")
    assert (definition[0], definition[5]) == ("C9000001", "A fever that glimmers.")


def test_gold_is_sorted_by_language_and_keeps_offsets(tiny):
    gold = read_gold(tiny)
    assert [sentence["id"] for sentence in gold] == ["ENG-001", "ENG-002", "SPA-001"]
    assert gold[0]["text"] == "GF was treated with Dimmax, rest and tea."
    assert gold[0]["entities"] == [
        {"start": 0, "end": 2, "text": "GF", "concept_id": "C9000001"},
        {"start": 20, "end": 26, "text": "Dimmax", "concept_id": "C9000006"},
        {"start": 28, "end": 32, "text": "rest", "concept_id": "NIL"},
    ]
    assert gold[1]["entities"] == []
    assert gold[2]["entities"][0]["start"] == len("El niño tiene ")
    assert "El niño" in (tiny / "gold" / "gold.jsonl").read_text(encoding="utf-8")
    queries = (tiny / "gold" / "queries.txt").read_text(encoding="utf-8")
    assert queries == "C9000001||GF\nC9000006||Dimmax\nC9000001||fiebre brillante\n"


def test_counts_are_printed(tmp_path):
    assert " ".join(build(tmp_path).stdout.split()) == (
        "concepts 6 names 13 names ENG 9 names GER 2 names SPA 2 relations 7 relation rows 14 "
        "dropped relations 0 sentences 3 mentions 4 NIL 1 ambiguous surface forms 1 "
        "abbreviations 3"
    )


def test_check_notices_a_changed_file(tmp_path):
    assert build(tmp_path, "--check").returncode == 1
    assert not (tmp_path / "META").exists()
    assert build(tmp_path).returncode == 0
    assert build(tmp_path, "--check").returncode == 0
    table = tmp_path / "META" / "MRSTY.RRF"
    table.write_text(table.read_text().replace("T047", "T048"))
    result = build(tmp_path, "--check")
    assert result.returncode == 1
    assert "META/MRSTY.RRF" in result.stderr


def test_all_problems_are_listed_and_nothing_is_written(tmp_path):
    result = build(tmp_path, concepts=BROKEN_CONCEPTS, gold=BROKEN_GOLD)
    assert result.returncode == 1
    assert result.stderr.strip().split("\n") == [
        "concepts_a.txt:2: `isa` of C9000001 to itself",
        "concepts_a.txt:2: dangling target C9999999 of `isa`",
        "concepts_a.txt:2: not a CUI: 'nonsense'",
        "concepts_a.txt:3: unknown relation key `cures`",
        "concepts_a.txt:4: unknown language `GRM`",
        "concepts_a.txt:5: '|' in a name: 'uno|dos'",
        "concepts_a.txt:5: empty name",
        "concepts_a.txt:6: `SPA` is given twice",
        "concepts_a.txt:7: unparsable line: 'gibberish'",
        "concepts_a.txt:9: missing semantic type of C9000002",
        "concepts_a.txt:10: no empty line before this concept",
        "concepts_a.txt:10: unknown semantic type 'T999'",
        "concepts_a.txt:12: duplicate C9000001, first at concepts_a.txt:1",
        "concepts_a.txt:14: unparsable first line of a concept: 'not a concept'",
        "gold_a.txt:1: unknown concept C9999999",
        "gold_a.txt:1: unparsable mark: 'A thing and a [broken|mark].'",
        "gold_a.txt:2: unparsable line, no LAT<TAB>sentence: 'ENG no tab'",
        "gold_a.txt:3: unknown language `XXX`",
        "gold_a.txt:4: a mention with outer white space: ' space'",
        "19 problems, nothing written",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_an_error_keeps_earlier_output(tmp_path):
    assert build(tmp_path).returncode == 0
    outputs = [*tmp_path.glob("META/*"), *tmp_path.glob("gold/*")]
    before = [path.read_bytes() for path in outputs]
    assert build(tmp_path, gold="ENG\t[fever|C1234567]\n").returncode == 1
    assert len(before) == 7
    assert [path.read_bytes() for path in outputs] == before


def test_dangling_relations_can_be_dropped(tmp_path):
    concepts = "C9000001|T047|One\nisa: C9000002; C9999999\n\nC9000002|T047|Two\n"
    assert build(tmp_path, concepts=concepts).returncode == 1
    result = build(tmp_path, "--allow-dangling", concepts=concepts, gold="")
    assert "dropped relations             1" in result.stdout
    assert len(edges(tmp_path)) == 2


def test_semantic_types_are_the_whole_network():
    lines = (
        (SAMPLE.parents[1] / "spacy_bergamot/kb_import/semantic_types.tsv")
        .read_text(encoding="utf-8")
        .strip()
        .split("\n")
    )
    table = [line.split("\t") for line in lines[1:]]
    assert lines[0].split("\t") == ["TUI", "STN", "STY", "GROUP"]
    assert len(table) == len({row[0] for row in table}) == len({row[1] for row in table}) == 127
    assert len({row[3] for row in table}) == 15
    parents = {row[1].rpartition(".")[0] for row in table}
    assert parents <= {"", *(row[1] for row in table)}


def test_committed_files_are_what_the_sources_give():
    result = script("build.py", "--check")
    assert result.returncode == 0, result.stderr


def test_committed_tables_are_large_enough():
    names = rows(SAMPLE, "MRCONSO.RRF")
    assert len({row[0] for row in names}) >= 400
    assert len({row[1] for row in names}) >= 9
    assert len(rows(SAMPLE, "MRREL.RRF")) >= 900
    senses = {(row[14].lower(), row[0]) for row in names}
    assert len({name for name, _ in senses}) < len(senses)
    for table, width in WIDTHS.items():
        assert {len(row) for row in rows(SAMPLE, table)} == {width}


def test_committed_relations_go_both_ways():
    inverse = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "RO": "RO"}
    pairs = Counter((head, rel, tail) for head, rel, tail, _ in edges(SAMPLE))
    assert all(pairs[tail, inverse[rel], head] == n for (head, rel, tail), n in pairs.items())


def test_committed_gold_is_sound():
    gold = read_gold(SAMPLE)
    assert len(gold) >= 150
    assert len({sentence["language"] for sentence in gold}) >= 8
    assert len({sentence["id"] for sentence in gold}) == len(gold)
    mentions = [(sentence["text"], each) for sentence in gold for each in sentence["entities"]]
    assert all(text[each["start"] : each["end"]] == each["text"] for text, each in mentions)
    identifiers = {each["concept_id"] for _, each in mentions}
    assert "NIL" in identifiers
    assert identifiers - {"NIL"} <= {row[0] for row in rows(SAMPLE, "MRCONSO.RRF")}
