"""Gold links of misspelt names."""

from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

from tests.spacy_bergamot.conftest import CONCEPTS


def golds(nlp: Language, *, spans_key: str | None = None) -> list[Example]:
    """Link misspelt names, some of them wrongly."""
    examples = []
    for number, (concept_id, (_, names)) in enumerate(sorted(CONCEPTS.items())):
        for name in names["ENG"]:
            for text in (name, name + "s", name[1:], name[:-1]):
                doc = nlp.make_doc(text)
                gold = "NIL" if text == name[1:] else concept_id
                span = Span(doc, 0, len(doc), label="X", kb_id=gold)
                if spans_key:
                    doc.spans[spans_key] = [span]
                else:
                    doc.ents = [span]
                examples.append(Example(doc, doc))
        assert number < len(CONCEPTS)
    return examples
