"""What is read of nmslib's file beside nmslib, and which build of it is installed."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import NmslibEngine
from spacy_bergamot.index.engines.nmslib_file import check_graph, map_records, nmslib_build


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    vectors = np.random.default_rng(0).standard_normal((600, 8)).astype(np.float32)
    folder = tmp_path_factory.mktemp("graph")
    NmslibEngine.build(folder, vectors, m=4, threads=1)
    return (folder / "hnsw.nmslib").read_bytes()


def test_the_vectors_of_a_graph_are_those_that_it_was_built_of(graph: bytes, tmp_path: Path):
    path = tmp_path / "hnsw.nmslib"
    path.write_bytes(graph)
    check_graph(path, count=600, dim=8)
    records = map_records(path, count=600, dim=8)
    assert records["number"].tolist() == list(range(600))
    vectors = np.random.default_rng(0).standard_normal((600, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(records["vector"], vectors, atol=1e-6)


def test_vectors_are_not_read_from_another_graph_s_file(tmp_path):
    vectors = np.eye(8, dtype=np.float32)
    NmslibEngine.build(tmp_path / "g", vectors)
    path = tmp_path / "g/hnsw.nmslib"
    np.testing.assert_array_equal(map_records(path, count=8, dim=8)["vector"], vectors)
    for count, dim in ((7, 8), (8, 80)):
        with pytest.raises(BergamotError, match="B002"):
            map_records(path, count=count, dim=dim)


def test_links_of_a_graph_that_lead_nowhere_are_refused(graph: bytes, tmp_path: Path):
    """nmslib follows them out of its memory; no checksum is needed to see them."""
    (tmp_path / "engine.json").write_text('{"count": 600, "dim": 8}')
    path, record = tmp_path / "hnsw.nmslib", 16 + 4 * 8 + 4 * 9
    higher = 68 + 600 * record
    first = next(at for at in range(higher, len(graph), 4) if graph[at : at + 4] != bytes(4))
    path.write_bytes(graph)
    NmslibEngine.open(tmp_path)
    begins = {"header": 0, "record": 68 + 7 * record, "links": 68 + 7 * record + 48}
    begins |= {"higher": first, "higher links": first + 4}
    lengths = {"header": 68, "record": 4, "links": 8, "higher": 4, "higher links": 8}
    unread = {*range(56, 68)}  # how nmslib searches: the engine sets it
    for part, begin in begins.items():
        for at in range(begin + 3, begin + lengths[part], 4):
            if at not in unread:
                changed = bytearray(graph)
                changed[at] ^= 0x7F
                path.write_bytes(changed)
                with pytest.raises(BergamotError, match=r"B002.*hnsw\.nmslib"):
                    NmslibEngine.open(tmp_path)


def test_the_build_of_nmslib_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import importlib.metadata as metadata

    installed = {"nmslib": "2.1.1"}

    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr("importlib.metadata.version", version)
    assert "pip install nmslib-metabrainz" in nmslib_build()
    installed = {"nmslib-metabrainz": "2.1.3"}
    assert nmslib_build() == "nmslib-metabrainz 2.1.3"
