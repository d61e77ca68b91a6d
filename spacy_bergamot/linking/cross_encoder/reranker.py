"""CrossEncoder: a reranker that reads a mention in its context together with each candidate.

A learned mix ranks first, in a millisecond or two; a language model then reads the mentions that it
is in doubt of, and both are blended. Scores are probabilities. `Candidate.scores` has the mix's
probability as "mix" and the logit as "cross_encoder" of what was read.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from spacy_bergamot.forks import ForkWatch
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import NIL
from spacy_bergamot.linking.cross_encoder.files import Trained
from spacy_bergamot.linking.cross_encoder.reading import to_read
from spacy_bergamot.linking.cross_encoder.texts import Reader
from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.learned_mix import LearnedMix
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import Ordered


class CrossEncoder:
    """The reranker; what `opened` returns has weights.

    nil (bool): Put NIL among the candidates. Where not, its probability counts all the same.
    margin (float): A mention is read if the probabilities of its best two alternatives, of which
        NIL is one, are nearer than this: 0 reads none, and whatever is above 1 all.
    k (int): Candidates of a mention that are read at most.
    device (str): torch device, or "auto". precision (str): "fp32" or "bf16".
    """

    def __init__(
        self,
        *,
        nil: bool = True,
        margin: float = 0.7,
        k: int = 16,
        device: str = "cpu",
        precision: str = "fp32",
        trained: Trained | None = None,
    ) -> None:
        if not margin >= 0:
            raise BergamotError(
                Errors.B037, setting="margin of the cross-encoder", value=margin, rule="at least 0"
            )
        if k < 1:
            raise BergamotError(
                Errors.B037, setting="k of the cross-encoder", value=k, rule="at least 1"
            )
        self.nil, self.margin, self.k = nil, margin, k
        self.device, self.precision = device, precision
        self.generator = trained.generator if trained is not None else ""
        self._trained = trained
        self._mix = LearnedMix(weights=trained.weights) if trained is not None else None
        self._reader: Reader | None = None
        self._watch = ForkWatch()

    def __repr__(self) -> str:
        mark = self._trained.fingerprint[:12] if self._trained is not None else ""
        settings = f"nil={self.nil}, margin={self.margin}, k={self.k}, precision={self.precision!r}"
        return f"CrossEncoder({settings}, weights={mark!r})"

    def opened(self, folder: Path, *, index: str) -> "CrossEncoder":
        """Return the reranker with its weights.

        folder (Path): What training made.
        index (str): Fingerprint of the alias index that candidates come from.
        RAISES (BergamotError): B050 for another index; else as `Trained.open`.
        """
        trained = Trained.open(folder, device=self.device, precision=self.precision)
        if trained.index != index:
            command = "training cross-encoder PIPELINE CORPUS OUTPUT"
            raise BergamotError(Errors.B050, path=folder, command=command)
        return CrossEncoder(
            nil=self.nil,
            margin=self.margin,
            k=self.k,
            device=self.device,
            precision=self.precision,
            trained=trained,
        )

    def __call__(
        self, mentions: Sequence[Mention], candidates: Ordered, kb: KnowledgeBase
    ) -> Ordered:
        """Return the candidates of one document's mentions, best first, NIL among them."""
        return self.rerank_documents([mentions], [candidates], kb)[0]

    def rerank_documents(
        self,
        mentions: Sequence[Sequence[Mention]],
        candidates: Sequence[Ordered],
        kb: KnowledgeBase,
    ) -> list[Ordered]:
        """Return the candidates of the mentions of several documents, best first, NIL among them.

        mentions (Sequence[Sequence[Mention]]), candidates (Sequence[Ordered]): Of every document.
        kb (KnowledgeBase): Where candidates are described.
        """
        trained, mix = self._trained, self._mix
        assert trained is not None, "only what `opened` returns can rerank"
        assert mix is not None
        self._watch.forked()
        flat = [
            (mention, found)
            for of, found_of in zip(mentions, candidates, strict=True)
            for mention, found in zip(of, mix(of, found_of, kb), strict=True)
        ]
        reads = [to_read(found, margin=self.margin, k=self.k) for _, found in flat]
        reader = self._reader_of(kb, trained)
        lines = [
            reader.lines(mention, read) if read else []
            for (mention, _), read in zip(flat, reads, strict=True)
        ]
        logits = iter(trained.model.logits([line for of in lines for line in of]))
        changed = (
            trained.blend.blended(found, read, list(islice(logits, len(read) + 1)))
            if read
            else found
            for (_, found), read in zip(flat, reads, strict=True)
        )
        kept = ([one for one in of if self.nil or one.concept_id != NIL] for of in changed)
        return [list(islice(kept, len(of))) for of in mentions]

    def _reader_of(self, kb: KnowledgeBase, trained: Trained) -> Reader:
        if self._reader is None or self._reader.kb is not kb:
            self._reader = Reader(
                trained.model.tokenizer, kb, size=trained.size, context=trained.context
            )
        return self._reader


def make_cross_encoder(
    nil: bool = True,
    margin: float = 0.7,
    k: int = 16,
    device: str = "cpu",
    precision: str = "fp32",
) -> CrossEncoder:
    """Configure a cross-encoder, whose weights are files of the pipeline; see `CrossEncoder`."""
    return CrossEncoder(nil=nil, margin=margin, k=k, device=device, precision=precision)
