"""What engines have in common: blocks, threads, and the facts beside a graph."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import common
from spacy_bergamot.index.engines.common import (
    blocks,
    build_seconds,
    build_threads,
    read_facts,
    write_facts,
)


class Shape:
    """As many vectors as it says, of which nobody reads any."""

    def __init__(self, count: int) -> None:
        self.shape = (count, 2)


@given(st.integers(0, 1 << 20))
def test_blocks_have_every_row_once(count: int):
    ends = [0]
    for rows in blocks(Shape(count)):
        assert rows.start == ends[-1] < rows.stop
        ends.append(rows.stop)
    assert ends[-1] == count


@pytest.mark.parametrize(("count", "asked", "used"), [(9, 0, 1), (10**6, 0, 16), (9, 3, 3)])
def test_few_vectors_have_one_thread_unless_more_are_asked_for(monkeypatch, count, asked, used):
    monkeypatch.setattr(common, "cores", lambda: 16)
    assert build_threads(count, asked) == used


def test_twice_the_threads_take_half_the_time_while_there_are_cores(monkeypatch):
    monkeypatch.setattr(common, "cores", lambda: 4)
    times = [build_seconds(10**6, 768, 16, 100, threads) for threads in (1, 2, 4, 8, 0)]
    assert times[0] == pytest.approx(2 * times[1])
    assert times[2] == times[3] == times[4] < times[1]


def test_facts_come_back(tmp_path: Path):
    write_facts(tmp_path, (7, 3), m=16)
    assert read_facts(tmp_path) == (7, 3, {"m": 16})
    assert json.loads((tmp_path / "engine.json").read_text())["m"] == 16


@pytest.mark.parametrize("text", ["", "[]", "3", '{"count": 1}', '{"count": "x", "dim": 1}', "["])
def test_facts_that_cannot_be_read_are_named(tmp_path: Path, text: str):
    with pytest.raises(BergamotError, match=r"B002.*engine\.json"):
        read_facts(tmp_path)
    (tmp_path / "engine.json").write_text(text)
    with pytest.raises(BergamotError, match=r"B002.*engine\.json"):
        read_facts(tmp_path)
