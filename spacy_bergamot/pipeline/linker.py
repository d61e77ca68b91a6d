"""The component `bergamot_linker`: concept ids for the entities of documents in any language."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.failures import processed
from spacy_bergamot.forks import ForkWatch
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.linking.calibration import Calibration
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.decision import NIL, Decision
from spacy_bergamot.linking.look_up import LookUp
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.names_instead import NamesInstead
from spacy_bergamot.linking.remembered import RememberedCandidates
from spacy_bergamot.linking.rerank import Ordered, rerank_documents
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.linking.spans import span_key, write_links
from spacy_bergamot.linking.written import as_written
from spacy_bergamot.pipeline.dictionaries import changed_dictionaries, check_dictionaries
from spacy_bergamot.pipeline.golds import candidates_and_golds
from spacy_bergamot.pipeline.loaders import FilesLoader, IndexLoader, LmLoader
from spacy_bergamot.pipeline.parts import (
    CALIBRATION,
    CHANGES,
    ENCODER,
    INDEX,
    NEEDED,
    RERANKER,
    LinkerParts,
)
from spacy_bergamot.pipeline.parts_pipe import PartsPipe
from spacy_bergamot.storage.bundle import FileBundle

Predictions = list[Ordered]


class BergamotLinker(PartsPipe):
    """Link mentions to concepts of a knowledge base; see `LinkerSettings`.

    It carries a language model and an alias index, and writes `ent.kb_id_`, `span._.kb_ents`,
    `span._.candidates` and `doc._.bergamot`.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "bergamot_linker",
        *,
        settings: LinkerSettings | None = None,
    ) -> None:
        super().__init__(vocab, name, settings or LinkerSettings())
        self.cfg: dict[str, Any] = {
            "threshold": self.settings.threshold,
            "spans_key": self.settings.spans_key,
        }
        self.scorer = self.settings.scorer
        self._look_up = LookUp(self.settings)
        self._remembered: RememberedCandidates | None = None
        self._watch = ForkWatch()
        for extension in ("kb_ents", "candidates"):
            if not Span.has_extension(extension):
                Span.set_extension(extension, default=None)
        if not Doc.has_extension("bergamot"):
            Doc.set_extension("bergamot", default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Link the mentions of one document."""
        return next(iter(processed(self, [doc], self._linked)), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link the mentions of a stream, `batch_size` documents at once."""
        for docs in minibatch(stream, size=batch_size):
            yield from processed(self, list(docs), self._linked)

    def _linked(self, docs: list[Doc]) -> list[Doc]:
        instead = NamesInstead(self._look_up, Decision(self.settings, self.kb), self._ranked)
        self.set_annotations(docs, [*map(instead, docs, self.predict(docs))])
        return docs

    def predict(self, docs: Iterable[Doc]) -> Predictions:
        """Return for every document the candidates of its mentions, best first.

        docs (Iterable[Doc]): With their mentions in `doc.ents`, or in the group of the setting
            `spans_key`.
        """
        check_dictionaries(self, self.parts)
        return self._ranked([self._look_up.mentions(doc) for doc in docs])

    def _ranked(self, mentions: list[list[Mention]]) -> Predictions:
        """Return the candidates of documents' mentions; equal mentions are looked up once."""
        parts = self.parts
        assert self._remembered is not None
        if self._watch.forked():
            self._remembered.after_fork()
        flat = [self._look_up.query(mention) for of in mentions for mention in of]
        found = iter(self._remembered(flat))
        candidates = [[as_written(one, next(found), parts.index) for one in of] for of in mentions]
        if parts.reranker is not None:
            candidates = rerank_documents(parts.reranker, mentions, candidates, parts.kb)
        else:
            candidates = parts.unexplained(mentions, candidates)
        if parts.calibration is not None:
            candidates = [
                [
                    parts.calibration(one, parts.groups, mention)
                    for mention, one in zip(of, found_of, strict=True)
                ]
                for of, found_of in zip(mentions, candidates, strict=True)
            ]
        return candidates

    def set_annotations(self, docs: Iterable[Doc], predictions: Predictions) -> None:
        """Write kb ids, `span._.kb_ents`, `span._.candidates` and `doc._.bergamot`.

        docs (Iterable[Doc]): Documents.
        predictions (list): What `predict` returned for them.
        """
        most = self.settings.max_entities_per_mention
        decision = Decision(self.settings, self.kb)
        for doc, found in zip(docs, predictions, strict=True):
            links = {}
            for span, candidates in zip(self._look_up.spans(doc), found, strict=True):
                kept = decision.links(candidates)[:most]
                span._.kb_ents = [(c.concept_id, c.score) for c in kept]
                span._.candidates = _shown(candidates)
                links[span_key(span)] = decision.concept_of(candidates)
            doc._.bergamot = dict(self.parts.provenance)
            write_links(doc, links, self.settings.spans_key)

    def explain(
        self, mention: str, label: str = "", *, context: str = "", language: str = ""
    ) -> dict[str, Any]:
        """Return how a mention is linked.

        It says the normal form, candidates, what was dropped, the decision, and why it is NIL if
        it is.

        label (str): Of the entity, for `types_by_label`.
        context (str): Text that the mention is in, whose abbreviations are resolved and which a
            reranker reads.
        language (str): Of the context; the pipeline's where not given.
        """
        language = language or self.vocab.lang
        asked = self._look_up.mention(mention, label, context=context, language=language)
        ((candidates,),) = self._ranked([[asked]])
        kept = {candidate.concept_id for candidate in candidates}
        dropped = self.generator.dropped(self._look_up.query(asked), k=self.settings.k)
        decision = Decision(self.settings, self.kb)
        return {
            "mention": mention,
            "looked_up": asked.text,
            "candidates": _shown(candidates),
            "dropped": [entry._asdict() for entry in dropped if entry.concept_id not in kept],
            "threshold": self.settings.threshold,
            "min_probability": self.settings.min_probability,
            "decision": decision.concept_of(candidates),
            "reason": decision.reason(candidates),
        }

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score linked examples with the configured scorer."""
        if self.scorer is None:
            return {}
        return self.scorer(examples, spans_key=self.settings.spans_key, **kwargs)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        encoder: LmLoader | None = None,
        index: IndexLoader | None = None,
        reranker: FilesLoader | None = None,
    ) -> None:
        """Take a language model and build the alias index with it.

        get_examples (Callable): Unused: nothing is trained.
        nlp (Language | None): Unused.
        encoder (LmLoader): Puts an LM folder at a path: spacy_bergamot.LanguageModel.v1.
        index (IndexLoader): Builds an index at a path: spacy_bergamot.AliasIndex.v1.
        reranker (FilesLoader | None): Puts the files of a trained reranker, which the setting
            `rerank` names, at a path: spacy_bergamot.Reranker.v1.
        """
        if encoder is None or index is None:
            remedy = (
                "Name them as in configs/linker.cfg, and give --paths.encoder and --paths.concepts."
            )
            what = "both encoder and index"
            raise BergamotError(Errors.B032, name=self.name, what=what, remedy=remedy)
        bundles = {part: FileBundle.temporary() for part in NEEDED}
        encoder(bundles[ENCODER].path)
        index(bundles[INDEX].path, bundles[ENCODER].path)
        if reranker is not None:
            bundles[RERANKER] = FileBundle.temporary()
            reranker(bundles[RERANKER].path)
        self.set_parts(LinkerParts(bundles, self.settings, name=self.name))

    def update_index(self, changes: Iterable[Mapping[str, Any]]) -> None:
        """Add and remove concepts and aliases, all of them or none; saved with the pipeline.

        The dictionaries of the pipeline's `bergamot_mentions` change with the index. The added
        names are encoded anew each time, so give many changes at once.

        changes (Iterable[dict]): See `Changes.write`.
        RAISES (ChangeError): B051, naming the change and what is wrong with it.
        """
        before, bundle = self.parts, FileBundle.temporary()
        Changes.write(bundle.path, before.index, before.encoder, changes, before=before.changes)
        after = before.with_part(CHANGES, bundle, self.settings)
        dictionaries = changed_dictionaries(self, before, after)
        self.set_parts(after)
        for dictionary, changed in dictionaries:
            dictionary.set_files(changed)

    def calibrate(
        self, examples: Iterable[Example], *, precision: float | None = None
    ) -> dict[str, Any]:
        """Learn from gold links how probable candidates are; saved with the pipeline.

        examples (Iterable[Example]): References whose mentions have kb ids, or NIL; of `C1|C2`
            either is right.
        precision (float | None): One more precision for which a threshold is sought.
        RETURNS (dict): Accuracy, calibration error, thresholds: all out of fold.
        RAISES (BergamotError): B053 if there are too few mentions.
        """
        known = list(candidates_and_golds(examples, self.predict, self._look_up))
        return self.calibrate_on(
            [found for found, _, _ in known],
            [gold for _, gold, _ in known],
            mentions=[mention for _, _, mention in known],
            precision=precision,
        )

    def calibrate_on(
        self,
        candidates: Sequence[list[Candidate]],
        golds: Sequence[frozenset[str]],
        *,
        mentions: Sequence[Mention | None] | None = None,
        precision: float | None = None,
    ) -> dict[str, Any]:
        """The same from the candidates of mentions, and the right concepts of each.

        golds (list): The right concept ids of every mention; none where it has no concept.
        mentions (list[Mention | None] | None): The mentions; None where nothing is known of them.
        precision (float): Share of links that are to be right.
        """
        parts, bundle = self.parts, FileBundle.temporary()
        made = Calibration.fit(
            candidates, golds, parts.groups, mentions=mentions, precision=precision
        )
        made.save(bundle.path, index=parts.index.fingerprint, scoring=parts.scoring)
        self.set_parts(parts.with_part(CALIBRATION, bundle, self.settings))
        return made.report

    def set_parts(self, parts: LinkerParts) -> "BergamotLinker":
        """Take language model, index and what belongs to them.

        parts (LinkerParts): Files and their readers.
        """
        super().set_parts(parts)
        self._look_up = LookUp(self.settings, parts.kb)
        self.forget()
        return self

    def with_settings(self, settings: LinkerSettings) -> "BergamotLinker":
        """Return another linker with other settings over the same files in memory.

        Those that files are opened with stay: ef_search, device and precision.

        settings (LinkerSettings): The other settings.
        """
        other = BergamotLinker(self.vocab, self.name, settings=settings)
        other.home, parts = self.home, self.parts
        return other.set_parts(LinkerParts(parts.bundles, settings, name=self.name, before=parts))

    def forget(self) -> None:
        """Forget the mentions that are remembered.

        The last decimal of a vector depends on what is encoded together; what is linked next is to
        the bit as in a new process.
        """
        self._remembered = RememberedCandidates(
            self.parts.generator, k=self.settings.k, most=self.settings.cache_size
        )


def _shown(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Return what is shown of candidates: concepts alone, without a reranker's NIL."""
    return [one.to_dict() for one in candidates if one.concept_id != NIL]
