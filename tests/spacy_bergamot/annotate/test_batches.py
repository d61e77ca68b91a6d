"""`AnnotateBatches`: Arrow in and out, in this process, through pickle and in a new one."""

import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

import spacy_bergamot
from spacy_bergamot import AnnotateBatches, BergamotError
from spacy_bergamot.annotate.batches import MOST_BYTES, MOST_ROWS, pieces
from spacy_bergamot.pipeline.pipelines import linker_of
from tests.spacy_bergamot.annotate.conftest import TEXTS


def table(texts: list[str | None] = TEXTS, **columns: Any) -> pa.Table:
    return pa.table({"note": range(len(texts)), "text": pa.array(texts, pa.string()), **columns})


def concepts(made: pa.Table | pa.RecordBatch) -> list[list[str | None]]:
    return [[one["concept_id"] for one in of] for of in made.column("mentions").to_pylist()]


def test_rows_get_their_mentions(pipeline: Path):
    annotate = AnnotateBatches(str(pipeline), candidates=True)
    made = annotate(table())
    assert made.column_names == ["note", "text", "mentions", "error"]
    assert made.column("note").to_pylist() == list(range(len(TEXTS)))
    assert concepts(made) == [["C01"], ["C03", "C10"], ["C02"], [], [], ["C07", "C08", "C09"]]
    assert made.column("error").null_count == len(TEXTS)
    (one,) = made.column("mentions").to_pylist()[0]
    assert TEXTS[0][one["start"] : one["end"]] == one["text"] == "Bluthochdruck"
    assert (one["label"], one["score"], one["attributes"]) == ("DISO", 1, [])
    assert one["name"] == "Hypertension"
    assert all(isinstance(one["name"], str) for of in made["mentions"].to_pylist() for one in of)
    assert one["candidates"][0]["concept_id"] == "C01"
    assert one["candidates"][0]["language"] == "GER"
    assert made.schema == annotate.schema(table().schema)


def test_they_are_those_of_the_pipeline(pipeline: Path):
    made = AnnotateBatches(str(pipeline))(table())
    nlp = spacy.load(pipeline)
    assert [
        [(e.start_char, e.end_char, e.label_, e.kb_id_, e._.kb_ents[0][1]) for e in doc.ents]
        for doc in nlp.pipe(TEXTS)
    ] == [
        [(one["start"], one["end"], one["label"], one["concept_id"], one["score"]) for one in of]
        for of in made.column("mentions").to_pylist()
    ]  # fmt: skip


def test_batches_and_tables_of_any_strings(pipeline: Path):
    annotate = AnnotateBatches(str(pipeline), keep=["note"])
    expected = concepts(annotate(table()))
    for type_ in (pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        given = table().set_column(1, "text", table().column("text").cast(type_))
        (batch,) = given.to_batches()
        made = annotate(batch)
        assert isinstance(made, pa.RecordBatch)
        assert made.schema.names == ["note", "mentions", "error"]
        assert concepts(made) == expected
    two = list(annotate.map([batch, batch.slice(1, 2), batch.slice(0, 0)]))
    assert [concepts(one) for one in two] == [expected, expected[1:3], []]
    chunks = pa.concat_tables([table(), table()])
    assert concepts(annotate(chunks)) == expected * 2


def test_a_document_that_cannot_be_linked_is_a_row_with_an_error(pipeline: Path):
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
    )
    good = pa.array([None, "fever", "RAISES fever", "x" * 1_000_001, "a\0b fever"])
    texts = pa.concat_arrays([good, bad])
    made = AnnotateBatches(str(pipeline))(pa.table({"text": texts}).slice(0))
    errors = made.column("error").to_pylist()
    assert concepts(made) == [[], ["C10"], [], [], ["C10"], []]
    assert errors[0] == "'text' holds no text"
    assert errors[2] == "RuntimeError: as told"
    assert "1000001 characters" in errors[3]
    assert "Unicode" in errors[5]
    assert errors[1] is errors[4] is None


def test_the_language_column_is_heard(make_nlp, tmp_path: Path):
    make_nlp().to_disk(tmp_path / "nlp")
    given = table(["lang COVID", "fever", "fever"], language=["de", None, "no such"])
    made = AnnotateBatches(str(tmp_path / "nlp"), language_column="language")(given)
    assert concepts(made)[1] == ["C10"]
    assert made.num_rows == 3


def test_what_went_before_changes_no_bit(pipeline: Path, monkeypatch: pytest.MonkeyPatch):
    annotate = AnnotateBatches(str(pipeline), candidates=True)
    generator, asked = linker_of(annotate.load())[0].generator, []
    generate = generator.generate

    def recorded(mentions: list, *, k: int) -> list:
        asked.append(list(mentions))
        return generate(mentions, k=k)

    monkeypatch.setattr(generator, "generate", recorded)
    given = table(["high blood pressures and feverish colds", "heart attacks"])
    first = annotate(given)
    annotate(table([*TEXTS, "high blood pressures", "heart attacks of the heart", "feverish"]))
    assert annotate(given).equals(first)
    assert asked[0] == asked[2]  # the last decimal depends on what is encoded together
    assert asked[0] != asked[1]


def test_it_travels(pipeline: Path, code: Path):
    annotate = AnnotateBatches(str(pipeline), keep=("note",), code=str(code))
    expected = annotate(table())
    data = pickle.dumps(annotate)
    assert len(data) < 1000  # the settings alone, though the pipeline is loaded here
    assert pickle.loads(data)(table()).equals(expected)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(annotate, [table()]).equals(expected)


def test_columns_that_are_wrong(pipeline: Path):
    for options, wrong, code in (
        ({"text_column": "no"}, table(), "B102"),
        ({"keep": ["no"]}, table(), "B102"),
        ({"language_column": "note"}, table(), "B170"),
        ({"text_column": "note"}, table(), "B170"),
        ({}, table(error=["x"] * len(TEXTS)), "B170"),
        ({}, pa.Table.from_arrays([table().column("text")] * 2, ["text", "text"]), "B170"),
    ):
        with pytest.raises(BergamotError, match=code):
            AnnotateBatches(str(pipeline), **options)(wrong)
    with pytest.raises(BergamotError, match="B046"):
        AnnotateBatches("no such pipeline")(table())
    blank = pipeline.parent / "blank"
    spacy.blank("en").to_disk(blank)
    with pytest.raises(BergamotError, match="B047"):
        AnnotateBatches(str(blank))(table())


@given(st.lists(st.one_of(st.none(), st.integers(0, MOST_BYTES // 3)), max_size=30), st.booleans())
def test_pieces_are_all_rows_in_order(sizes: list[int | None], many: bool):
    texts = [None if size is None else "x" * size for size in sizes] * (30 if many else 1)
    found = list(pieces(pa.array(texts, pa.string())))
    assert [row for start, end in found for row in range(start, end)] == list(range(len(texts)))
    for start, end in found:
        assert 0 < end - start <= MOST_ROWS
        assert end == start + 1 or sum(len(t or "") for t in texts[start:end]) <= MOST_BYTES


def test_it_is_public(nlp: Language):
    assert "AnnotateBatches" in spacy_bergamot.__all__
