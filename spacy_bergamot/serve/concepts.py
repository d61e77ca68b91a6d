"""Concepts of the knowledge base, as plain values."""

from typing import Any

from spacy_bergamot.kb.semantic_types import GROUP_NAMES
from spacy_bergamot.output.vocabularies import coding
from spacy_bergamot.serve.refusals import Refused
from spacy_bergamot.serve.vocabulary import Vocabulary

_CHILDREN = 200


def concept(vocabulary: Vocabulary, concept_id: str) -> dict[str, Any]:
    """Return all that is known of a concept.

    vocabulary (Vocabulary): Of the pipeline. concept_id (str): Of the concept.
    RAISES (Refused): 404 if there is none.
    """
    kb = vocabulary.kb
    found = kb.find(concept_id)
    if found is None:
        raise Refused(404, "The knowledge base has no concept of that id.")
    names: dict[str, dict[str, list[str]]] = {}
    for row in kb.aliases(concept_id):
        sources = names.setdefault(row["language"], {}).setdefault(row["alias"], [])
        if row["source"] not in sources:
            sources.append(row["source"])
    children = kb.children(concept_id)
    types = [{"id": one, "name": vocabulary.type_name(one)} for one in found.types]
    return {
        "id": found.concept_id,
        "name": found.canonical_name,
        "definition": found.definition,
        "types": types,
        "groups": [{"id": one, "name": GROUP_NAMES.get(one, one)} for one in found.groups],
        "names": {
            language: [{"name": name, "sources": of} for name, of in by_name.items()]
            for language, by_name in sorted(names.items())
        },
        "codes": {
            source: [coding(source, code)["code"] for code in codes]
            for source, codes in sorted(found.codes.items())
        },
        "parents": _named(vocabulary, kb.parents(concept_id)),
        "children": _named(vocabulary, children[:_CHILDREN]),
        "children_in_all": len(children),
    }


def coded(vocabulary: Vocabulary, source: str, code: str) -> dict[str, Any]:
    """Return the concepts that have a code in a vocabulary.

    vocabulary (Vocabulary): Of the pipeline. source, code (str): The vocabulary and the code in it.
    RAISES (Refused): 422 if no concept has a code in it.
    """
    if wrong := vocabulary.wrong_source(source, "source"):
        raise Refused.of(*wrong)
    return {"concepts": _named(vocabulary, vocabulary.kb.concepts_coded(source, code))}


def search(vocabulary: Vocabulary, text: str, *, limit: int, similar: bool) -> dict[str, Any]:
    """Return concepts by id or name.

    vocabulary (Vocabulary): Of the pipeline. text (str): An id, a name or its beginning.
    limit (int): Concepts at most. similar (bool): By 3-grams alone, not by beginning.
    """
    kb = vocabulary.kb
    found = kb.similar(text, limit=limit) if similar else kb.complete(text, limit=limit)
    return {
        "concepts": [
            {
                "id": match.concept_id,
                **vocabulary.named(match.concept_id),
                "alias": match.alias,
                "language": match.language,
                "score": round(match.score, 4),
            }
            for match in found
        ]
    }


def _named(vocabulary: Vocabulary, concept_ids: list[str]) -> list[dict[str, str]]:
    return [{"id": one, "name": vocabulary.named(one)["name"]} for one in concept_ids]
