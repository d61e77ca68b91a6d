"""What a repository of the hub holds."""

import sys
from types import SimpleNamespace

import pytest
import srsly

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.output.hub import model_card, tag_of, upload

META = {
    "lang": "xx", "name": "tiny", "version": "1.2.0", "license": "CC BY 4.0",
    "bergamot": {"knowledge_base": {"languages": {"ENG": 9, "CHI": 2, "XYZ": 1}}},
}  # fmt: skip


def test_the_card_says_to_the_hub_what_the_pipeline_is():
    wheel = "xx_tiny-1.2.0-py3-none-any.whl"
    text = model_card(META, "# Tiny\n", repo="me/tiny", wheel=wheel)
    _, head, card = text.split("---\n", 2)
    facts = srsly.yaml_loads(head)
    assert facts["language"] == ["en", "zh"]
    assert facts["license"] == "cc-by-4.0"
    assert card.startswith("\n# Tiny\n")
    assert f"https://huggingface.co/me/tiny/resolve/{tag_of(META)}/{wheel}" in card


def test_licences_that_the_hub_has_no_name_for_are_said_in_words():
    text = model_card(META | {"license": "MIT; CC BY 4.0"}, "x", repo="a/b", wheel="c.whl")
    facts = srsly.yaml_loads(text.split("---\n")[1])
    assert (facts["license"], facts["license_name"]) == ("other", "MIT; CC BY 4.0")


def test_a_pipeline_without_a_model_card_has_the_language_of_its_meta():
    for lang, language in (("de", "de"), ("xx", "multilingual")):
        text = model_card({"lang": lang, "version": "1"}, "x", repo="a/b", wheel="c.whl")
        assert srsly.yaml_loads(text.split("---\n")[1])["language"] == [language]


class Hub:
    """What is called of huggingface_hub, and with what."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict]] = []
        self.problem: Exception | None = None

    def __getattr__(self, name: str):
        def call(*_: object, **given: object) -> str:
            if self.problem is not None:
                raise self.problem
            self.calls.append((name, given))
            return "https://huggingface.co/me/tiny"

        return call


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub()
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(HfApi=lambda: made))
    return made


def test_a_new_repository_is_private_unless_it_is_to_be_public(hub: Hub, tmp_path):
    for public in (False, True):
        address = upload(tmp_path, "me/tiny", tag="v1.2.0", public=public)
        assert address == "https://huggingface.co/me/tiny"
    made = [given for name, given in hub.calls if name == "create_repo"]
    assert [given["private"] for given in made] == [True, False]
    assert [given["tag"] for name, given in hub.calls if name == "create_tag"] == ["v1.2.0"] * 2
    # What an earlier version had and this one has not must not stay beside it.
    uploads = [given for name, given in hub.calls if name == "upload_folder"]
    assert uploads[0]["delete_patterns"] == "*"


def test_what_the_hub_refuses_is_said(hub: Hub, tmp_path):
    hub.problem = OSError("401 Client Error\n\nmore")
    with pytest.raises(BergamotError, match=r"B223.*me/tiny: 401 Client Error\. Log in"):
        upload(tmp_path, "me/tiny", tag="v1", public=False)


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(BergamotError, match=r"B109.*spacy_bergamot\[hub\]"):
        upload(tmp_path, "me/tiny", tag="v1", public=False)
