"""What the Reconciliation Service offers: types, properties, and where they are suggested."""

from typing import Any

from spacy_bergamot.kb.semantic_types import GROUP_NAMES
from spacy_bergamot.serve.front import Front

_SPACE = "urn:spacy-bergamot:"
_PREVIEW = {"width": 430, "height": 300}
_PROPERTIES = {
    "parents": "Parents",
    "types": "Semantic types",
    "groups": "Semantic groups",
    "definition": "Definition",
}
CODES = "codes:"
LANGUAGE = {"id": "language", "name": "Language of the text (ISO 639-1)"}
_LIMIT = {
    "name": "limit",
    "label": "Limit",
    "type": "number",
    "default": 0,
    "help_text": "The most values of a row, 0 for all; several values are several rows",
}


def manifest(front: Front, base: str, prefix: str) -> dict[str, Any]:
    """Return the manifest of a service at a URL and a path of it.

    front (Front): The pipeline. base, prefix (str): URL of the server, and the path.
    """
    root = f"{base}{prefix}"
    suggest = {
        kind: {"service_url": root, "service_path": f"/suggest/{kind}"}
        for kind in ("entity", "type", "property")
    }
    return {
        "versions": ["0.2"],
        "name": f"spacy_bergamot: {front.info()['pipeline']}",
        "identifierSpace": f"{_SPACE}concepts",
        "schemaSpace": f"{_SPACE}semantic-types",
        "defaultTypes": [{"id": one, "name": _group_name(one)} for one in front.vocabulary.groups],
        "view": {"url": f"{base}/#concept={{{{id}}}}"},
        "preview": {"url": f"{root}/preview?id={{{{id}}}}", **_PREVIEW},
        "suggest": suggest,
        "extend": {
            "propose_properties": {"service_url": root, "service_path": "/properties"},
            "property_settings": [_LIMIT],
        },
        "batchSize": 50,
    }


def types(front: Front) -> dict[str, str]:
    """Return the names of semantic groups and types.

    front (Front): The pipeline.
    """
    vocabulary = front.vocabulary
    groups = {one: _group_name(one) for one in vocabulary.groups}
    return groups | {one: vocabulary.type_name(one) for one in vocabulary.types}


def properties(front: Front) -> dict[str, str]:
    """Return the names of what a column can be filled with.

    front (Front): The pipeline.
    """
    codes = {f"{CODES}{source}": f"{source} code" for source in front.vocabulary.code_sources}
    return _PROPERTIES | codes


def _group_name(group: str) -> str:
    return GROUP_NAMES.get(group, group)
