"""Gold documents of a DocBin, as `python -m training corpus … --spacy` writes it."""

from pathlib import Path

from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab


def read_gold(path: Path, vocab: Vocab) -> list[tuple[Doc, list[set[str]]]]:
    """Return documents with unlinked entities, and the concepts any of which is right of each.

    None is right of a mention without an id, and of one whose concepts are right together.
    """
    pairs = []
    for doc in DocBin().from_disk(path).get_docs(vocab):
        golds = [set() if "+" in e.kb_id_ else set(e.kb_id_.split("|")) for e in doc.ents]
        doc.set_ents([Span(doc, ent.start, ent.end, label=ent.label) for ent in doc.ents])
        pairs.append((doc, [gold - {"NIL", ""} for gold in golds]))
    return pairs
