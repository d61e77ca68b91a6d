"""OBO files: a frame that cannot be read is left out."""

from pathlib import Path

import pytest

from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from tests.spacy_bergamot.kb_import.ontology.invented import OBO


def test_a_broken_frame_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "zo.obo"
    path.write_text(OBO.replace('"zelosis" EXACT []', '"zelosis" EXACT [http://a b\\c]'), "utf8")
    rows = import_ontologies([path], tmp_path / "META")
    assert rows["MRCONSO"] == 2
    assert "zo.obo:" in caplog.text
