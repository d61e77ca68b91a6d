import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.vector_store import Plan, fill, is_whole, open_store, plan_of, shard_path
from tests.processes import ROOT, run

STRINGS = pa.array([f"sign {n} of {'pain ' * (n % 7)}" for n in range(95)], pa.large_string())


@pytest.fixture
def encoder(lm: Path) -> TextEncoder:
    return TextEncoder.open(lm)


@pytest.fixture
def plan(encoder: TextEncoder) -> Plan:
    made = plan_of(STRINGS, encoder, lm_fingerprint="x")
    return Plan(**{**made.__dict__, "shard": 20})


def test_shards_hold_what_the_encoder_gives(encoder, plan, tmp_path):
    fill(tmp_path / "v", STRINGS, encoder, plan)
    store = open_store(tmp_path / "v", plan)
    expected = encoder.encode(STRINGS.to_pylist())
    assert store.shape == expected.shape == (95, 32)
    np.testing.assert_allclose(store[:], expected, atol=1e-6)
    for rows in (slice(0, 5), slice(15, 45), slice(39, 41), slice(90, 200), slice(40, 60)):
        np.testing.assert_allclose(store[rows], expected[rows], atol=1e-6)
    assert len(store[95:]) == 0


def test_a_second_run_makes_only_what_is_missing_or_broken(encoder, plan, tmp_path):
    folder = tmp_path / "v"
    fill(folder, STRINGS, encoder, plan)
    shard_path(folder, 1).write_bytes(shard_path(folder, 1).read_bytes()[:-8])
    shard_path(folder, 3).with_suffix(".json").unlink()
    with pytest.raises(BergamotError, match=r"B041.*2 of 5.*number 1"):
        open_store(folder, plan)
    times = {n: shard_path(folder, n).stat().st_mtime_ns for n in range(5)}
    assert fill(folder, STRINGS, encoder, plan) == 3
    changed = {n for n in range(5) if shard_path(folder, n).stat().st_mtime_ns != times[n]}
    assert changed == {1, 3}
    np.testing.assert_allclose(
        open_store(folder, plan)[:], encoder.encode(STRINGS.to_pylist()), atol=1e-6
    )


def test_processes_share_the_shards_out(encoder, plan, tmp_path):
    folder = tmp_path / "v"
    fill(folder, STRINGS, encoder, plan, rank=1, processes=2)
    assert [is_whole(folder, plan, n) for n in range(5)] == [False, True, False, True, False]
    fill(folder, STRINGS, encoder, plan, rank=0, processes=2)
    assert open_store(folder, plan).shape == (95, 32)


@pytest.mark.parametrize(
    "change", [{"lm_fingerprint": "y"}, {"dtype": "float16"}, {"strings": "z"}]
)
def test_vectors_of_two_kinds_are_not_mixed(encoder, plan, tmp_path, change):
    folder = tmp_path / "v"
    fill(folder, STRINGS, encoder, plan)
    other = Plan(**{**plan.__dict__, **change})
    with pytest.raises(BergamotError, match=f"B040.*{next(iter(change))}"):
        fill(folder, STRINGS, encoder, other)
    # Nor when a shard of another plan is put among them.
    facts = json.loads(shard_path(folder, 0).with_suffix(".json").read_text())
    shard_path(folder, 0).with_suffix(".json").write_text(json.dumps({**facts, "plan": other.id}))
    assert not is_whole(folder, plan, 0)


def test_somebody_elses_folder_is_left_alone(encoder, plan, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BergamotError, match="B101"):
        fill(tmp_path, STRINGS, encoder, plan)


def test_half_as_large_on_disk_and_nearly_the_same(encoder, tmp_path):
    plan = plan_of(STRINGS, encoder, lm_fingerprint="x", dtype="float16")
    fill(tmp_path / "v", STRINGS, encoder, plan)
    assert shard_path(tmp_path / "v", 0).stat().st_size < 95 * 32 * 2 + 200
    expected = encoder.encode(STRINGS.to_pylist())
    np.testing.assert_allclose(open_store(tmp_path / "v", plan)[:], expected, atol=1e-3)
    with pytest.raises(BergamotError, match="B014"):
        plan_of(STRINGS, encoder, lm_fingerprint="x", dtype="int3")


def test_an_index_takes_vectors_that_are_there(concepts, lm, encoder, tmp_path, monkeypatch):
    done = run("training", "encode", concepts, lm, tmp_path / "v")
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(TextEncoder, "encode_in_pieces", None)
    mark = fingerprint(lm)
    AliasIndex.build(tmp_path / "i", concepts, encoder, lm_fingerprint=mark, vectors=tmp_path / "v")
    assert len(AliasIndex.open(tmp_path / "i")) > 20


def test_a_killed_process_leaves_whole_shards(encoder, plan, lm, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        f"""
import time
import pyarrow as pa
from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.vector_store import Plan, fill
class Slow(TextEncoder):
    def encode_in_pieces(self, names, **settings):
        time.sleep(0.3)
        return super().encode_in_pieces(names, **settings)
strings = pa.array({STRINGS.to_pylist()!r}, pa.large_string())
fill(__import__("pathlib").Path({str(tmp_path / "v")!r}), strings, Slow.open({str(lm)!r}),
     Plan(**{plan.__dict__!r}))
"""
    )
    process = subprocess.Popen([sys.executable, str(script)], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not shard_path(tmp_path / "v", 1).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = fill(tmp_path / "v", STRINGS, encoder, plan)
    assert 1 <= found < 5
    expected = encoder.encode(STRINGS.to_pylist())
    np.testing.assert_allclose(open_store(tmp_path / "v", plan)[:], expected, atol=1e-6)
