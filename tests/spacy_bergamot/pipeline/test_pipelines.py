"""Pipelines by name: what is none is named with its remedy."""

from pathlib import Path

import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.pipelines import (
    find_pipeline,
    import_code,
    load_pipeline,
    pipeline_folder,
)


def test_a_folder_is_found_whatever_is_in_it_and_a_pipeline_by_its_config(tmp_path: Path):
    assert pipeline_folder(str(tmp_path)) == tmp_path
    with pytest.raises(BergamotError, match=r"B046.*no config\.cfg"):
        find_pipeline(str(tmp_path))
    spacy.blank("en").to_disk(tmp_path)
    assert find_pipeline(str(tmp_path)) == tmp_path


def test_an_installed_package_is_found_in_its_folder(tmp_path: Path, monkeypatch):
    package = tmp_path / "xx_mine"
    package.mkdir()
    spacy.blank("xx", meta={"name": "mine", "version": "1.2"}).to_disk(package / "xx_mine-1.2")
    (package / "meta.json").write_text((package / "xx_mine-1.2/meta.json").read_text())
    (package / "__init__.py").touch()
    about = tmp_path / "xx_mine-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: xx_mine\nVersion: 1.2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_pipeline("xx_mine") == package / "xx_mine-1.2"


@pytest.mark.parametrize("name", ["nothing", "no/such/folder", "en_core_web_none"])
def test_what_is_neither_is_named(name: str):
    with pytest.raises(BergamotError, match=rf"B046.*{name}.*no installed package, and no folder"):
        load_pipeline(name)


def test_a_device_is_that_of_every_language_model(saved: Path, monkeypatch):
    given = {}
    monkeypatch.setattr(spacy, "load", lambda name, config: given.update(config))
    load_pipeline(str(saved))
    assert not given.get("components")
    load_pipeline(str(saved), device="cuda:1")
    assert given["components"]["bergamot_linker"] == {"device": "cuda:1"}


def test_a_component_that_nothing_registered_is_named(tmp_path: Path):
    spacy.blank("xx").to_disk(tmp_path)
    config = spacy.util.load_config(tmp_path / "config.cfg")
    config["nlp"]["pipeline"] = ["mine"]
    config["components"]["mine"] = {"factory": "my_own_factory"}
    config.to_disk(tmp_path / "config.cfg")
    with pytest.raises(BergamotError, match=r"B120.*my_own_factory"):
        load_pipeline(str(tmp_path))


def test_errors_of_ours_come_through(saved: Path):
    (saved / "bergamot_linker/index/keys.npy").unlink()
    with pytest.raises(BergamotError, match=r"B001.*keys\.npy"):
        load_pipeline(str(saved))


@pytest.mark.parametrize("code", ["1 / 0", "import nothing_of_this_name", "def ("])
def test_code_of_the_user_that_fails_is_named(tmp_path: Path, code: str):
    (tmp_path / "code.py").write_text(code)
    with pytest.raises(BergamotError, match=r"B119.*code\.py.*Error: "):
        import_code(tmp_path / "code.py")
    import_code(None)
