"""The whole of preprocessing on an open knowledge base, where there is one."""

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from tests.training.preprocess.conftest import run

ARCHIVE = Path(
    os.environ.get("BERGAMOT_OPEN_KB", Path(__file__).parents[4] / "shared/data/open_kb.tar.xz")
)


@pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no open knowledge base at {ARCHIVE}")
def test_an_open_knowledge_base_in_a_dozen_languages(tmp_path: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        members = [member for member in archive if member.name.endswith(".RRF")]
        for member in members:
            member.name = Path(member.name).name
        archive.extractall(tmp_path / "META", members=members)
    built = run(tmp_path, held_out=0.1)
    data, table = built.train, ConceptTable.open(tmp_path / "out/kb")
    assert data.n_concepts == len(table) > 10_000
    assert built.counts["malformed"]["MRCONSO"] < 0.001 * built.counts["read"]["MRCONSO"]
    assert len(data.pairs) > 5 * len(table)
    assert (data.pairs[:, 1] != data.pairs[:, 2]).all()
    assert (np.diff(data.pairs[:, 0]) >= 0).all()
    assert data.pairs[:, 1:].max() < len(data.names)
    assert (np.diff(data.node_names_indptr) > 0).all(), "every node has a name"
    assert data.graph_sources.max() < len(table)
    targets = np.repeat(np.arange(len(table)), np.diff(data.homonyms_indptr))
    both = set(zip(targets.tolist(), data.homonyms.tolist(), strict=True))
    assert both == {(b, a) for a, b in both}
    assert len(built.queries()) >= 10
