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

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.bundle import FileBundle
from spacy_bergamot.candidates import Candidate, CandidateFilter, CandidateGenerator
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.files import read_manifest
from spacy_bergamot.kb import KnowledgeBase
from spacy_bergamot.loaders import LM_KIND, LM_VERSION, IndexLoader, LmLoader
from spacy_bergamot.text import normalize
from spacy_bergamot.text_encoder import TextEncoder

ENCODER, INDEX = "encoder", "index"
Predictions = list[list[list[Candidate]]]

DEFAULT_CONFIG: dict[str, Any] = {
    "k": 10,
    "threshold": None,
    "max_entities_per_mention": 5,
    "spans_key": None,
    "labels_discard": [],
    "overwrite": True,
    "semantic_types": [],
    "semantic_groups": [],
    "languages": [],
    "sources": [],
    "types_by_label": {},
    "ef_search": 100,
    "cache_size": 10_000,
    "device": "cpu",
    "precision": "fp32",
    "verify": True,
    "scorer": {"@scorers": "spacy_bergamot.linker_scorer.v1"},
}


@Language.factory(
    "bergamot_linker",
    assigns=["token.ent_kb_id", "span._.kb_ents", "span._.candidates"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={"nel_micro_f": 1.0, "nel_micro_r": None, "nel_micro_p": None},
)
def make_linker(
    nlp: Language,
    name: str,
    k: int,
    threshold: float | None,
    max_entities_per_mention: int,
    spans_key: str | None,
    labels_discard: list[str],
    overwrite: bool,
    semantic_types: list[str],
    semantic_groups: list[str],
    languages: list[str],
    sources: list[str],
    types_by_label: dict[str, list[str]],
    ef_search: int,
    cache_size: int,
    device: str,
    precision: str,
    verify: bool,
    scorer: Callable | None,
) -> "BergamotLinker":
    """Make a linker; see `BergamotLinker` for the settings."""
    allowed = CandidateFilter(
        tuple(semantic_types),
        tuple(semantic_groups),
        tuple(languages),
        tuple(sources),
        types_by_label,
    )
    return BergamotLinker(
        nlp.vocab,
        name,
        k=k,
        threshold=threshold,
        max_entities_per_mention=max_entities_per_mention,
        spans_key=spans_key,
        labels_discard=labels_discard,
        overwrite=overwrite,
        allowed=allowed,
        ef_search=ef_search,
        cache_size=cache_size,
        device=device,
        precision=precision,
        verify=verify,
        scorer=scorer,
    )


class BergamotLinker(Pipe):
    """Link mentions to concepts by exact alias, else by the language model's nearest aliases.

    k (int): Candidates kept in `span._.candidates`.
    threshold (float | None): Smallest cosine of a link; below it a mention is NIL.
    max_entities_per_mention (int): Length of `span._.kb_ents`.
    spans_key (str | None): Link `doc.spans[spans_key]`; None links `doc.ents`.
    labels_discard (list[str]): Entity labels that are left alone.
    overwrite (bool): Link entities that have a kb id already.
    allowed (CandidateFilter): Applied before the top k.
    ef_search (int): nmslib's efSearch. cache_size (int): Mentions remembered.
    device (str): "cpu", "auto", "cuda:0". precision (str): "fp32", "bf16", "fp16".
    verify (bool): Compare checksums when loading; sizes are compared in any case.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "bergamot_linker",
        *,
        k: int = 10,
        threshold: float | None = None,
        max_entities_per_mention: int = 5,
        spans_key: str | None = None,
        labels_discard: Iterable[str] = (),
        overwrite: bool = True,
        allowed: CandidateFilter | None = None,
        ef_search: int = 100,
        cache_size: int = 10_000,
        device: str = "cpu",
        precision: str = "fp32",
        verify: bool = True,
        scorer: Callable | None = None,
    ) -> None:
        if threshold is not None and not -1 <= threshold <= 1:
            raise BergamotError(Errors.B036.format(value=threshold))
        for setting, value in {"k": k, "ef_search": ef_search}.items():
            if value < 1:
                raise BergamotError(Errors.B037.format(setting=setting, value=value))
        self.vocab = vocab
        self.name = name
        self.cfg: dict[str, Any] = {"threshold": threshold, "spans_key": spans_key}
        self.settings: dict[str, Any] = {
            "k": k,
            "threshold": threshold,
            "max_entities_per_mention": max_entities_per_mention,
            "spans_key": spans_key,
            "labels_discard": frozenset(labels_discard),
            "overwrite": overwrite,
            "allowed": allowed or CandidateFilter(),
            "ef_search": ef_search,
            "cache_size": cache_size,
            "device": device,
            "precision": precision,
            "verify": verify,
            "scorer": scorer,
        }
        self.scorer = scorer
        self.bundles: dict[str, FileBundle] = {}
        self._generator: CandidateGenerator | None = None
        self._cache: OrderedDict[tuple[str, str], list[Candidate]] = OrderedDict()
        self._process = os.getpid()
        for extension in ("kb_ents", "candidates"):
            if not Span.has_extension(extension):
                Span.set_extension(extension, default=None)

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
        mentions = [[self._key(span) for span in self._mentions(doc)] for doc in docs]
        distinct = dict.fromkeys(key for keys in mentions for key in keys)
        known = {key: self._cache[key] for key in distinct if key in self._cache}
        fresh = [key for key in distinct if key not in known]
        known.update(zip(fresh, generator.generate(fresh), strict=True) if fresh else ())
        self._remember(known)
        return [[known[key] for key in keys] for keys in mentions]

    def set_annotations(self, docs: Iterable[Doc], predictions: Predictions) -> None:
        """Write kb ids, `span._.kb_ents` and `span._.candidates`."""
        for doc, found in zip(docs, predictions, strict=True):
            spans = self._mentions(doc)
            for span, candidates in zip(spans, found, strict=True):
                most = self.settings["max_entities_per_mention"]
                kept = [candidate for candidate in candidates if self._passes(candidate)]
                span._.kb_ents = [(c.concept_id, c.score) for c in kept[:most]]
                span._.candidates = [candidate.to_dict() for candidate in candidates]
            links = {
                (span.start, span.end, span.label): self._decide(candidates)
                for span, candidates in zip(spans, found, strict=True)
            }
            self._write(doc, links)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score linked examples with the configured scorer."""
        if self.scorer is None:
            return {}
        return self.scorer(examples, spans_key=self.settings["spans_key"], **kwargs)

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
        verify = self.settings["verify"]
        lm = read_manifest(
            bundles[ENCODER].path, kind=LM_KIND, version=LM_VERSION, checksums=verify
        )
        index = AliasIndex.open(
            bundles[INDEX].path, ef_search=self.settings["ef_search"], checksums=verify
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
            bundles[ENCODER].path,
            device=self.settings["device"],
            precision=self.settings["precision"],
        )
        self._check_names(index)
        allowed, k = self.settings["allowed"], self.settings["k"]
        self._generator = CandidateGenerator(encoder, index, allowed, k=k)
        self._cache.clear()
        self.bundles = bundles

    def _check_names(self, index: AliasIndex) -> None:
        """Refuse filters that name what the knowledge base does not have."""
        allowed: CandidateFilter = self.settings["allowed"]
        table = index.table
        by_label = [name for names in allowed.types_by_label.values() for name in names]
        types, groups = (set(table.types.column(c).unique().to_pylist()) for c in ("type", "group"))
        checks = {
            "semantic types": (allowed.semantic_types, types),
            "semantic groups": (allowed.semantic_groups, groups),
            "types_by_label": (by_label, types | groups),
            "languages": (allowed.languages, set(_distinct(table, "language"))),
            "sources": (allowed.sources, set(_distinct(table, "source"))),
        }
        for what, (wanted, known) in checks.items():
            for value in wanted:
                if value not in known:
                    names = ", ".join(sorted(known)[:40])
                    message = Errors.B033.format(
                        value=value, what=what, name=self.name, known=names
                    )
                    raise BergamotError(message)

    def _after_fork(self) -> None:
        """A fork after torch has used several threads hangs unless it uses one."""
        import torch

        torch.set_num_threads(1)
        self._process = os.getpid()

    def _mentions(self, doc: Doc) -> list[Span]:
        key, discard = self.settings["spans_key"], self.settings["labels_discard"]
        spans = doc.ents if key is None else doc.spans.get(key, [])
        overwrite = self.settings["overwrite"]
        return [s for s in spans if s.label_ not in discard and (overwrite or not s.kb_id)]

    def _key(self, span: Span) -> tuple[str, str]:
        by_label = self.settings["allowed"].types_by_label
        return normalize(span.text), span.label_ if span.label_ in by_label else ""

    def _remember(self, known: dict[tuple[str, str], list[Candidate]]) -> None:
        """Keep the mentions used last, at most `cache_size`."""
        for key, candidates in known.items():
            self._cache[key] = candidates
            self._cache.move_to_end(key)
        while len(self._cache) > self.settings["cache_size"]:
            self._cache.popitem(last=False)

    def _passes(self, candidate: Candidate) -> bool:
        threshold = self.settings["threshold"]
        return threshold is None or candidate.score >= threshold

    def _decide(self, candidates: list[Candidate]) -> str:
        if candidates and self._passes(candidates[0]):
            return candidates[0].concept_id
        return EntityLinker.NIL

    def _write(self, doc: Doc, links: dict[tuple[int, int, int], str]) -> None:
        """Write kb ids where they last: on tokens for entities, on new spans in a span group."""
        key = self.settings["spans_key"]
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


def _distinct(table: Any, column: str) -> list[str]:
    return table.aliases.column(column).unique().to_pylist()


def _unpickle(vocab: Vocab, name: str, settings: dict[str, Any], parts: dict) -> BergamotLinker:
    linker = BergamotLinker(vocab, name, **settings)
    if parts:
        linker._load(
            {
                part: FileBundle(value) if isinstance(value, Path) else FileBundle.from_bytes(value)
                for part, value in parts.items()
            }
        )
    return linker
