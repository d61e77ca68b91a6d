"""The page: it comes whole from the service, and nothing of a note can become part of it."""

import re

import pytest

from spacy_bergamot.serve.app import PAGE

FILES = sorted(path.name for path in PAGE.iterdir())
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def test_the_page_is_served_with_a_strict_policy(service):
    answer = service.get("/")
    assert answer.text == (PAGE / "index.html").read_text(encoding="utf8")
    policy = dict(part.strip().split(" ", 1)
                  for part in answer.headers["content-security-policy"].split(";"))  # fmt: skip
    assert policy.pop("default-src") == policy.pop("frame-ancestors") == "'none'"
    assert policy.pop("base-uri") == policy.pop("form-action") == "'none'"
    assert set(policy.values()) == {"'self'"}
    for name in FILES:
        answer = service.get(f"/page/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(TYPES[name.rpartition(".")[2]])
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_fetched_from_elsewhere_and_nothing_is_inserted_as_html(name):
    text = (PAGE / name).read_text(encoding="utf8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
    assert "localStorage" not in text
    if name.endswith("html"):
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", text)


def test_every_file_that_is_named_is_there_and_every_field_has_a_label():
    html = (PAGE / "index.html").read_text(encoding="utf8")
    named = set(re.findall(r'(?:src|href)="page/([^"]+)"', html))
    for name in FILES:
        named |= set(re.findall(r'from "\./([^"]+)"', (PAGE / name).read_text(encoding="utf8")))
    assert named | {"index.html"} == set(FILES)
    fields = re.findall(r'<(?:input|select|textarea)[^>]*?\bid="([^"]+)"', html)
    labels = re.findall(r'<label[^>]*\bfor="([^"]+)"', html)
    inside = re.findall(r'<label[^>]*><input[^>]*\bid="([^"]+)"', html)
    assert set(fields) == {*labels, *inside}
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    for name in (name for name in FILES if name.endswith("js")):
        used = re.findall(r'byId\("([^"]+)"\)', (PAGE / name).read_text(encoding="utf8"))
        assert set(used) <= set(ids), name
