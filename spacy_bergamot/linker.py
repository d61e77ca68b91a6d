"""The component `bergamot_linker`: concept ids for the entities of documents in any language."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.pipeline import EntityLinker, Pipe
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch
from spacy.vocab import Vocab

from spacy_bergamot.abbreviations import find_abbreviations
from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.bundle import FileBundle
from spacy_bergamot.candidates import Candidate, CandidateGenerator
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.files import checked_manifest
from spacy_bergamot.kb import KnowledgeBase
from spacy_bergamot.loaders import LM_KIND, LM_VERSION, IndexLoader, LmLoader
from spacy_bergamot.settings import LinkerSettings
from spacy_bergamot.text import normalize
from spacy_bergamot.text_encoder import TextEncoder

ENCODER, INDEX = "encoder", "index"
Key = tuple[str, str]
Predictions = list[list[list[Candidate]]]


class BergamotLinker(Pipe):
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
        self.vocab = vocab
        self.name = name
        self.settings = settings or LinkerSettings()
        self.cfg: dict[str, Any] = {
            "threshold": self.settings.threshold,
            "spans_key": self.settings.spans_key,
        }
        self.scorer = self.settings.scorer
        self.bundles: dict[str, FileBundle] = {}
        self.provenance: dict[str, Any] = {}
        self._generator: CandidateGenerator | None = None
        self._cache: OrderedDict[Key, list[Candidate]] = OrderedDict()
        self._process = os.getpid()
        for extension in ("kb_ents", "candidates"):
            if not Span.has_extension(extension):
                Span.set_extension(extension, default=None)
        if not Doc.has_extension("bergamot"):
            Doc.set_extension("bergamot", default=None)

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base of the index. RAISES (BergamotError): B030 if there is none."""
        return KnowledgeBase(self.generator.index)

    @property
    def generator(self) -> CandidateGenerator:
        """The candidate generator. RAISES (BergamotError): B030 if nothing is loaded."""
        if self._generator is None:
            raise BergamotError(Errors.B030.format(name=self.name))
        return self._generator

    def __call__(self, doc: Doc) -> Doc:
        """Link the mentions of one document."""
        for linked in self._process_batch([doc]):
            return linked
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link the mentions of a stream, `batch_size` documents at once."""
        for docs in minibatch(stream, size=batch_size):
            yield from self._process_batch(list(docs))

    def _process_batch(self, docs: list[Doc]) -> list[Doc]:
        try:
            self.set_annotations(docs, self.predict(docs))
        except Exception as error:
            self.get_error_handler()(self.name, self, docs, error)
            return []
        return docs

    def predict(self, docs: Iterable[Doc]) -> Predictions:
        """Return for every document the candidates of its mentions, best first.

        Mentions are flattened over all documents; equal ones are looked up once and remembered.
        """
        generator = self.generator
        if os.getpid() != self._process:
            self._after_fork()
        docs = list(docs)
        mentions = [self._keys(doc) for doc in docs]
        distinct = dict.fromkeys(key for keys in mentions for key in keys)
        known = {key: self._cache[key] for key in distinct if key in self._cache}
        fresh = [key for key in distinct if key not in known]
        known.update(zip(fresh, generator.generate(fresh), strict=True) if fresh else ())
        self._remember(known)
        found = [[known[key] for key in keys] for keys in mentions]
        rerank = self.settings.rerank
        if rerank is None:
            return found
        table = generator.index.table
        return [
            rerank([text for text, _ in keys], candidates, table)
            for keys, candidates in zip(mentions, found, strict=True)
        ]

    def set_annotations(self, docs: Iterable[Doc], predictions: Predictions) -> None:
        """Write kb ids, `span._.kb_ents`, `span._.candidates` and `doc._.bergamot`."""
        most = self.settings.max_entities_per_mention
        for doc, found in zip(docs, predictions, strict=True):
            links = {}
            for span, candidates in zip(self._mentions(doc), found, strict=True):
                kept = [candidate for candidate in candidates[:most] if self._passes(candidate)]
                span._.kb_ents = [(c.concept_id, c.score) for c in kept]
                span._.candidates = [candidate.to_dict() for candidate in candidates]
                links[span.start, span.end, span.label] = self._decide(candidates)
            doc._.bergamot = dict(self.provenance)
            self._write(doc, links)

    def explain(self, mention: str, label: str = "", *, context: str = "") -> dict[str, Any]:
        """Return how a mention is linked: normal form, candidates, what was dropped, decision.

        context (str): Text whose abbreviations are resolved.
        """
        text = self._expanded(mention, self._short_forms(context))
        candidates = self.generator.generate([(text, self._label(label))])[0]
        if self.settings.rerank is not None:
            candidates = self.settings.rerank([text], [candidates], self.generator.index.table)[0]
        kept = {candidate.concept_id for candidate in candidates}
        dropped = self.generator.dropped(text, label)
        return {
            "mention": mention,
            "looked_up": normalize(text),
            "candidates": [candidate.to_dict() for candidate in candidates],
            "dropped": [entry._asdict() for entry in dropped if entry.concept_id not in kept],
            "threshold": self.settings.threshold,
            "decision": self._decide(candidates),
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
    ) -> None:
        """Take a language model and build the alias index with it.

        encoder (LmLoader): Puts an LM folder at a path: spacy_bergamot.LanguageModel.v1.
        index (IndexLoader): Builds an index at a path: spacy_bergamot.AliasIndex.v1.
        """
        if encoder is None or index is None:
            raise BergamotError(Errors.B032.format(name=self.name))
        bundles = {part: FileBundle.temporary() for part in (ENCODER, INDEX)}
        encoder(bundles[ENCODER].path)
        index(bundles[INDEX].path, bundles[ENCODER].path)
        self._load(bundles)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save language model and index, each whole or not at all. Settings live in the config."""
        for part, bundle in self._saved().items():
            if part not in exclude:
                bundle.copy_to(Path(path) / part)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "BergamotLinker":
        """Map language model and index from a folder and check them against each other."""
        self._load({part: FileBundle(Path(path) / part) for part in (ENCODER, INDEX)})
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return language model and index as msgpack."""
        saved = self._saved().items()
        parts = {part: b.to_bytes(name=self.name) for part, b in saved if part not in exclude}
        return srsly.msgpack_dumps(parts)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "BergamotLinker":
        """Restore language model and index into a temporary folder of the component's own."""
        try:
            parts = srsly.msgpack_loads(data)
            bundles = {part: FileBundle.from_bytes(parts[part]) for part in (ENCODER, INDEX)}
        except (ValueError, KeyError, TypeError, AttributeError) as reason:
            message = Errors.B035.format(path="The bytes", name=self.name, reason=repr(reason))
            raise BergamotError(message) from None
        self._load(bundles)
        return self

    def __reduce__(self) -> tuple:
        """Pickle the files' path, or their bytes where the component owns them.

        Pipe is a Cython class and ignores __getstate__.
        """
        parts = {
            part: bundle.path if bundle.owner is None else bundle.to_bytes(name=self.name)
            for part, bundle in self.bundles.items()
        }
        return _unpickle, (self.vocab, self.name, self.settings, parts)

    def _saved(self) -> dict[str, FileBundle]:
        if not self.bundles:
            raise BergamotError(Errors.B030.format(name=self.name))
        return self.bundles

    def _load(self, bundles: dict[str, FileBundle]) -> None:
        """Check the files, and build their readers now, so that forked workers share pages."""
        settings = self.settings
        with checked_manifest(
            bundles[ENCODER].path, kind=LM_KIND, version=LM_VERSION, checksums=settings.verify
        ) as lm:
            index = AliasIndex.open(
                bundles[INDEX].path, ef_search=settings.ef_search, checksums=settings.verify
            )
        if index.manifest["lm_fingerprint"] != lm["fingerprint"]:
            raise BergamotError(
                Errors.B031.format(
                    name=self.name,
                    found=index.manifest["lm_fingerprint"][:12],
                    expected=lm["fingerprint"][:12],
                )
            )
        encoder = TextEncoder.open(
            bundles[ENCODER].path, device=settings.device, precision=settings.precision
        )
        settings.allowed.check(index.table, name=self.name)
        self._generator = CandidateGenerator(
            encoder, index, settings.allowed, k=settings.k, generator=settings.generator
        )
        self._cache.clear()
        self.bundles = bundles
        self.provenance = _provenance(index)

    def _after_fork(self) -> None:
        """A fork after torch has used several threads hangs unless it uses one."""
        import torch

        torch.set_num_threads(1)
        self._process = os.getpid()

    def _mentions(self, doc: Doc) -> list[Span]:
        settings = self.settings
        spans = doc.ents if settings.spans_key is None else doc.spans.get(settings.spans_key, [])
        return [
            span
            for span in spans
            if span.label_ not in settings.labels_discard and (settings.overwrite or not span.kb_id)
        ]

    def _keys(self, doc: Doc) -> list[Key]:
        """Return what is looked up for every mention: its normal form, and label if it counts."""
        spans = self._mentions(doc)
        forms = self._short_forms(doc.text) if spans else {}
        return [
            (normalize(self._expanded(span.text, forms)), self._label(span.label_))
            for span in spans
        ]

    def _label(self, label: str) -> str:
        return label if label in self.settings.allowed.types_by_label else ""

    def _short_forms(self, text: str) -> dict[str, str]:
        if not self.settings.resolve_abbreviations:
            return {}
        return {**self.settings.abbreviations, **find_abbreviations(text)}

    @staticmethod
    def _expanded(mention: str, forms: dict[str, str]) -> str:
        """Return the long form of a mention that is a short form, or the mention."""
        return forms.get(mention.strip(), mention) if forms else mention

    def _remember(self, known: dict[tuple[str, str], list[Candidate]]) -> None:
        """Keep the mentions used last, at most `cache_size`."""
        for key, candidates in known.items():
            self._cache[key] = candidates
            self._cache.move_to_end(key)
        while len(self._cache) > self.settings.cache_size:
            self._cache.popitem(last=False)

    def _passes(self, candidate: Candidate) -> bool:
        threshold = self.settings.threshold
        return threshold is None or candidate.score >= threshold

    def _decide(self, candidates: list[Candidate]) -> str:
        if candidates and self._passes(candidates[0]):
            return candidates[0].concept_id
        return EntityLinker.NIL

    def _write(self, doc: Doc, links: dict[tuple[int, int, int], str]) -> None:
        """Write kb ids where they last: on tokens for entities, on new spans in a span group."""
        key = self.settings.spans_key
        if key is None:
            for (start, end, _), concept_id in links.items():
                for token in doc[start:end]:
                    token.ent_kb_id_ = concept_id
        elif key in doc.spans:
            group = doc.spans[key]
            for position, span in enumerate(group):
                link = links.get((span.start, span.end, span.label))
                if link is not None:
                    group[position] = Span(
                        doc, span.start, span.end, label=span.label, kb_id=link, span_id=span.id
                    )


def _provenance(index: AliasIndex) -> dict[str, Any]:
    """Return what every linked document says of where its links come from."""
    manifest = index.manifest
    sources = {entry["source"]: entry["version"] for entry in manifest["release"]}
    return {
        "written_by": manifest["written_by"],
        "lm": manifest["lm_fingerprint"],
        "index": index.fingerprint,
        "concepts": manifest["concepts"],
        "aliases": manifest["aliases"],
        "sources": sources,
    }


def _unpickle(vocab: Vocab, name: str, settings: LinkerSettings, parts: dict) -> BergamotLinker:
    linker = BergamotLinker(vocab, name, settings=settings)
    if parts:
        linker._load(
            {
                part: FileBundle(value) if isinstance(value, Path) else FileBundle.from_bytes(value)
                for part, value in parts.items()
            }
        )
    return linker
