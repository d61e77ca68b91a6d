"""What may be proposed: masks are what plain loops allow, and every refusal has a reason."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.semantic_types import with_types_below
from spacy_bergamot.linking.filters import CandidateFilter, Masks
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts
from tests.spacy_bergamot.factories import ensemble, mark


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


IDS = some("C01", "C03", "C06", "X1")
FILTERS = st.builds(
    CandidateFilter,
    semantic_types=some("T047", "T121", "T999"),
    semantic_groups=some("DISO", "ANAT"),
    languages=some("ENG", "JPN"),
    sources=some("SRCENG", "SRCGER"),
    types_by_label=st.just("common") | st.dictionaries(st.just("X"), some("CHEM", "T047", "T071")),
    concepts=IDS,
    descendants_of=IDS,
    expand_types=st.booleans(),
)
COMMON = {"DISEASE": ["DISO"], "Chemical": ["CHEM"]}


@pytest.fixture(scope="module")
def table(concepts: Path) -> ConceptTable:
    return ConceptTable.open(concepts)


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> ConceptTable:
    """Names that were added of C03, which is below C06, and of X1, which is new."""
    known = {"C03": CONCEPTS["C03"], "X1": ("T121", {"ENG": ["y"]}), "X2": ("T121", {"ENG": ["z"]})}
    folder = write_concepts(tmp_path_factory.mktemp("added") / "kb", {**CONCEPTS, **known})
    return ConceptTable.open(folder)


def allowed_concepts(table: ConceptTable, given: CandidateFilter, label: str) -> list[bool]:
    """Return by plain loops which concepts are allowed."""
    by_label = COMMON if given.types_by_label == "common" else given.types_by_label
    kinds, by_label = {*given.semantic_types}, set(by_label.get(label, ()))
    if given.expand_types:
        kinds, by_label = with_types_below(kinds), with_types_below(by_label)
    kinds = {*kinds, *given.semantic_groups}
    tops = [row for row in map(table.find, given.descendants_of) if row is not None]
    below = table.descendants(tops)
    found = []
    for row, concept_id in enumerate(table):
        own = {*table.concept(row).types, *table.concept(row).groups}
        fits = not kinds or kinds & own
        fits = fits and (not by_label or by_label & own)
        fits = fits and (not given.concepts or concept_id in given.concepts)
        found.append(bool(fits and (not given.descendants_of or row in below)))
    return found


@settings(max_examples=40)
@given(FILTERS, st.sampled_from(["X", "Y", *COMMON]), st.sets(st.integers(0, 9)))
def test_masks_are_what_plain_loops_allow(table: ConceptTable, given, label, gone):
    rows = table.aliases.to_pylist()
    removed = np.isin(np.arange(len(rows)), list(gone)) if gone else None
    masks = Masks(table, given, removed)
    concepts = allowed_concepts(table, given, label)
    aliases = [
        (not given.languages or row["language"] in given.languages)
        and (not given.sources or row["source"] in given.sources)
        and number not in gone
        for number, row in enumerate(rows)
    ]
    for mask, expected in ((masks.aliases, aliases), (masks.concepts(label), concepts)):
        assert all(expected) if mask is None else mask.tolist() == expected, given
    for number, row in enumerate(rows):
        reason = masks.reason(number, row["concept"], label)
        assert (reason is None) == (aliases[number] and concepts[row["concept"]]), reason


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"languages": ("GER",)}, "language ENG"),
        ({"sources": ("SRCGER",)}, "source SRCENG"),
        ({"semantic_groups": ("ANAT",)}, "semantic type"),
        ({"types_by_label": {"X": ["ANAT"]}}, "semantic type for label X"),
        ({"concepts": ("C02",)}, "not among the concepts"),
        ({"descendants_of": ("C06",)}, "not a descendant"),
    ],
)
def test_the_filter_that_drops_an_alias_is_named(table: ConceptTable, given, reason):
    masks = Masks(table, CandidateFilter(**given))
    assert masks.reason(0, 0, "X") == reason
    assert Masks(table, CandidateFilter(), np.array([True])).reason(0, 0, "X") == "removed"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"semantic_types": ("T047", "T999")}, r"B033.*T999.*semantic types"),
        ({"semantic_groups": ("T047",)}, r"B033.*T047.*semantic groups"),
        ({"types_by_label": {"X": ["DISO", "T047", "NONE"]}}, r"B033.*NONE.*types_by_label"),
        ({"languages": ("de",)}, r"B033.*de.*languages"),
        ({"sources": ("ENG",)}, r"B033.*ENG.*sources"),
        ({"concepts": ("C01", "X1")}, r"B013.*X1"),
        ({"descendants_of": ("X1",)}, r"B013.*X1"),
    ],
)
def test_what_no_table_has_is_refused(table: ConceptTable, given, code):
    with pytest.raises(BergamotError, match=code):
        CandidateFilter(**given).check(table, name="linker")


def test_a_type_that_stands_for_those_below_it_needs_one_of_them_in_the_table(table):
    given = {"semantic_types": ("T071",), "types_by_label": {"X": ["T038"]}}
    CandidateFilter(**given, expand_types=True).check(table, name="linker")
    with pytest.raises(BergamotError, match=r"B033.*T071"):
        CandidateFilter(**given).check(table, name="linker")


def test_labels_of_common_models_need_no_type_in_the_table(table: ConceptTable):
    CandidateFilter(types_by_label="common").check(table, name="linker")
    with pytest.raises(BergamotError, match=r"B190.*'usual'"):
        CandidateFilter(types_by_label="usual")


def test_what_one_of_the_tables_has_is_accepted(table: ConceptTable, added: ConceptTable):
    given = CandidateFilter(semantic_types=("T047",), languages=("JPN",), concepts=("C01", "X1"))
    given.check(table, added, name="linker")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"languages": ("ENG",)}, None),
        ({"concepts": ("C02", "X1")}, {"C02", "X1"}),
        ({"descendants_of": ("C06",)}, {"C03", "C06"}),
        ({"descendants_of": ("C06",), "concepts": ("C03", "X1")}, {"C03"}),
        ({"descendants_of": ("X1",)}, {"X1"}),
        ({"concepts": ("Z",)}, set()),
    ],
)
def test_added_concepts_have_the_graph_of_the_base(table, added, given, expected):
    asked = CandidateFilter(semantic_groups=("DISO",), **given)
    made = asked.for_added_concepts(table, added)
    if expected is None:
        assert made == asked
    elif not expected:
        assert made is None
    else:
        assert set(made.concepts) == expected
        assert (made.descendants_of, made.semantic_groups) == ((), ("DISO",))


def candidates(nlp, text: str, mention: str) -> list[dict]:
    return nlp.get_pipe("bergamot_linker")(mark(nlp, text, mention)).ents[0]._.candidates


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"concepts": ["C05", "C07"]}, {"C05", "C07"}),
        ({"descendants_of": ["C06"]}, {"C06", "C03"}),
        ({"descendants_of": ["C06"], "semantic_groups": ["ANAT"]}, {"C06"}),
    ],
)
@pytest.mark.parametrize("combine", ["max", "rescored"])
def test_only_some_concepts_are_allowed(make_nlp, config, expected, combine):
    made = ensemble(stop_at_exact=False, combine=combine)
    nlp = make_nlp(mentions=False, generator=made, k=10, **config)
    for mention in ("fever", "cold", "heart attacks"):
        found = {c["concept_id"] for c in candidates(nlp, f"a {mention}", mention)}
        assert found == expected


def test_an_unknown_concept_in_a_filter_is_refused(make_nlp):
    with pytest.raises(BergamotError, match="B013"):
        make_nlp(mentions=False, descendants_of=["C99"])
