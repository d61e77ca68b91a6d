"""Gold links of examples, beside the candidates that a linker has for the same mentions."""

from collections.abc import Callable, Iterable, Iterator

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.look_up import LookUp
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import Ordered
from spacy_bergamot.linking.spans import span_key, spans_of, unlinked


def candidates_and_golds(
    examples: Iterable[Example],
    predict: Callable[[Iterable[Doc]], list[Ordered]],
    look_up: LookUp,
) -> Iterator[tuple[list[Candidate], frozenset[str], Mention]]:
    """Yield the candidates of every mention that has a kb id, its right concepts, the mention.

    examples (Iterable[Example]): References whose mentions have kb ids, or NIL; of `C1|C2` either
        is right.
    predict (Callable): The candidates of the mentions of documents, as of a linker.
    look_up (LookUp): Says which mentions those are.
    """
    key = look_up.settings.spans_key
    for batch in minibatch(examples, size=128):
        references = [example.reference for example in batch]
        docs = [unlinked(reference, key) for reference in references]
        for reference, doc, found in zip(references, docs, predict(docs), strict=True):
            golds = {span_key(span): span.kb_id_ for span in spans_of(reference, key)}
            asked = zip(look_up.spans(doc), look_up.mentions(doc), found, strict=True)
            for span, mention, candidates in asked:
                if gold := golds[span_key(span)]:
                    yield candidates, frozenset(gold.split("|")) - {NIL}, mention
