"""spaCy's own `entity_linker` over our index: candidates and vectors of a million concepts.

`AliasKnowledgeBase` is the knowledge base that it trains and predicts with; the factory
`bergamot_entity_linker` is spaCy's component with settings that fit. It needs sentences.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from spacy.kb import Candidate as SpacyCandidate
from spacy.kb import KnowledgeBase
from spacy.language import Language
from spacy.pipeline import EntityLinker
from spacy.tokens import Span
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.loaders import IndexLoader, LmLoader
from spacy_bergamot.pipeline.parts import ENCODER, INDEX, NEEDED, LinkerParts
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.text import normalize

_REMEMBERED = 100_000
_NAME = "bergamot_entity_linker"

EmptyKb = Callable[[Vocab, int], "AliasKnowledgeBase"]


class AliasKnowledgeBase(KnowledgeBase):
    """An alias index as spaCy's knowledge base.

    A candidate's prior is its score; a concept's vector is that of its preferred name, of as many
    numbers as the language model is wide.
    """

    def __init__(
        self, vocab: Vocab, entity_vector_length: int, *, settings: LinkerSettings
    ) -> None:
        super().__init__(vocab, entity_vector_length)
        self.settings = settings
        self._parts: LinkerParts | None = None
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()

    @property
    def parts(self) -> LinkerParts:
        """Language model and index.

        RAISES (BergamotError): B030 if there are none.
        """
        if self._parts is None:
            raise BergamotError(Errors.B030, name=_NAME)
        return self._parts

    def is_empty(self) -> bool:
        """Whether nothing is loaded, as `EntityLinker` asks before it trains."""
        return self._parts is None

    def __len__(self) -> int:
        return 0 if self._parts is None else len(self._parts.kb)

    def set_parts(self, parts: LinkerParts) -> "AliasKnowledgeBase":
        """Take language model and index.

        parts (LinkerParts): Files and their readers.
        """
        super().__init__(self.vocab, parts.encoder.dim)
        self._parts = parts
        self._vectors.clear()
        return self

    def get_candidates(self, mention: Span) -> list[SpacyCandidate]:
        """Return the candidates of a mention, best first."""
        return self.get_candidates_batch([mention])[0]

    def get_candidates_batch(self, mentions: Iterable[Span]) -> list[list[SpacyCandidate]]:
        """Return the candidates of every mention, best first.

        mentions (SpanGroup | Iterable[Span]): Mentions.
        """
        mentions = list(mentions)
        if not mentions:
            return []
        asked = [(normalize(mention.text), "") for mention in mentions]
        distinct = list(dict.fromkeys(asked))
        generated = self.parts.generator.generate(distinct, k=self.settings.k)
        found = dict(zip(distinct, generated, strict=True))
        ids = dict.fromkeys(c.concept_id for candidates in found.values() for c in candidates)
        vectors = dict(zip(ids, self.get_vectors(ids), strict=True))
        add = self.vocab.strings.add
        return [
            [
                SpacyCandidate(
                    kb=self,
                    entity_hash=add(one.concept_id),
                    entity_freq=0.0,
                    entity_vector=vectors[one.concept_id],
                    alias_hash=add(one.alias),
                    prior_prob=min(max(one.score, 0.0), 1.0),
                )
                for one in found[key]
            ]
            for key in asked
        ]

    def get_vector(self, entity: str) -> np.ndarray:
        """Return the vector of a concept's preferred name, float32 (d,); zeros if it is unknown.

        entity (str): Concept id.
        """
        return self.get_vectors([entity])[0]

    def get_vectors(self, entities: Iterable[str]) -> list[np.ndarray]:
        """Return the vectors of several concepts.

        entities (Iterable[str]): Concept ids.
        """
        entities = list(entities)
        known = {entity: self._vectors[entity] for entity in entities if entity in self._vectors}
        fresh = [entity for entity in dict.fromkeys(entities) if entity not in known]
        concepts = {entity: self.parts.kb.find(entity) for entity in fresh}
        named = {entity: c.canonical_name for entity, c in concepts.items() if c is not None}
        if named:
            known.update(zip(named, self.parts.encoder.encode(list(named.values())), strict=True))
        nothing = np.zeros(self.entity_vector_length, dtype=np.float32)
        known.update((entity, nothing) for entity in fresh if entity not in known)
        self._vectors.update(known)
        for entity in known:
            self._vectors.move_to_end(entity)
        while len(self._vectors) > _REMEMBERED:
            self._vectors.popitem(last=False)
        return [known[entity] for entity in entities]

    def to_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> None:
        """Save language model and index.

        path (str | Path): Folder.
        exclude (Iterable[str]): Names of parts that are left out.
        """
        self.parts.to_disk(path, exclude=exclude)

    def from_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> "AliasKnowledgeBase":
        """Map language model and index.

        path (str | Path): Folder.
        exclude (Iterable[str]): Names of parts that are left out.
        """
        return self.set_parts(
            LinkerParts.from_disk(path, self.settings, name=_NAME, exclude=exclude)
        )

    def to_bytes(self, **kwargs: Any) -> bytes:
        """Return language model and index as msgpack."""
        return self.parts.to_bytes()

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "AliasKnowledgeBase":
        """Restore language model and index.

        bytes_data (bytes): What `to_bytes` returned.
        exclude (Iterable[str]): Unused: the parts are one whole.
        """
        return self.set_parts(LinkerParts.from_bytes(bytes_data, self.settings, name=_NAME))

    def __reduce__(self) -> tuple:
        reduced = self._parts.reduced() if self._parts is not None else {}
        return _unpickle, (self.vocab, self.entity_vector_length, self.settings, reduced)


def empty_knowledge_base(
    generator: Any = None, k: int = 10, device: str = "cpu", precision: str = "fp32"
) -> EmptyKb:
    """Configure the knowledge base of a linker that is loaded or initialised later.

    generator, k, device, precision: As of `bergamot_linker`.
    """
    given = {"generator": generator} if generator is not None else {}
    settings = LinkerSettings(k=k, device=device, precision=precision, **given)

    def make(vocab: Vocab, entity_vector_length: int) -> AliasKnowledgeBase:
        return AliasKnowledgeBase(vocab, entity_vector_length, settings=settings)

    return make


def knowledge_base(
    empty: EmptyKb, encoder: LmLoader, index: IndexLoader
) -> Callable[[Vocab], AliasKnowledgeBase]:
    """Configure `kb_loader`: take a language model and build the alias index with it.

    empty: What `generate_empty_kb` is, so that both have the same settings.
    encoder, index: As in [initialize.components.bergamot_linker].
    """

    def load(vocab: Vocab) -> AliasKnowledgeBase:
        kb = empty(vocab, 1)
        bundles = {part: FileBundle.temporary() for part in NEEDED}
        encoder(bundles[ENCODER].path)
        index(bundles[INDEX].path, bundles[ENCODER].path)
        return kb.set_parts(LinkerParts(bundles, kb.settings, name=_NAME))

    return load


def candidates_of_one(threshold: float = 0.0) -> Callable:
    """Configure `get_candidates`.

    threshold (float): Smallest score.
    """

    def get(kb: KnowledgeBase, mention: Span) -> list[SpacyCandidate]:
        return [one for one in kb.get_candidates(mention) if one.prior_prob >= threshold]

    return get


def candidates_of_many(threshold: float = 0.0) -> Callable:
    """Configure `get_candidates_batch`.

    threshold (float): Smallest score.
    """

    def get(kb: KnowledgeBase, mentions: Iterable[Span]) -> list[list[SpacyCandidate]]:
        found = kb.get_candidates_batch(mentions)
        return [[one for one in of if one.prior_prob >= threshold] for of in found]

    return get


@Language.factory(
    "bergamot_entity_linker",
    requires=["doc.ents", "doc.sents", "token.ent_iob", "token.ent_type"],
    assigns=["token.ent_kb_id"],
    default_config={
        "model": {
            "@architectures": "spacy.EntityLinker.v2",
            "tok2vec": {
                "@architectures": "spacy.HashEmbedCNN.v2",
                "pretrained_vectors": None,
                "width": 96,
                "depth": 2,
                "embed_size": 2000,
                "window_size": 1,
                "maxout_pieces": 3,
                "subword_features": True,
            },
        },
        "labels_discard": [],
        "n_sents": 0,
        "incl_prior": True,
        "incl_context": True,
        "get_candidates": {"@misc": "spacy_bergamot.KbCandidates.v1"},
        "get_candidates_batch": {"@misc": "spacy_bergamot.KbCandidatesBatch.v1"},
        "generate_empty_kb": {"@misc": "spacy_bergamot.EmptyKnowledgeBase.v1"},
        "overwrite": True,
        "scorer": {"@scorers": "spacy.entity_linker_scorer.v1"},
        "use_gold_ents": True,
        "threshold": None,
    },
    default_score_weights={"nel_micro_f": 1.0, "nel_micro_r": None, "nel_micro_p": None},
)
def make_entity_linker(
    nlp: Language,
    name: str,
    model: Any,
    labels_discard: list[str],
    n_sents: int,
    incl_prior: bool,
    incl_context: bool,
    get_candidates: Callable,
    get_candidates_batch: Callable,
    generate_empty_kb: EmptyKb,
    overwrite: bool,
    scorer: Callable | None,
    use_gold_ents: bool,
    threshold: float | None,
) -> EntityLinker:
    """Make spaCy's entity linker over an alias index.

    One mention at a time is looked up where labels are discarded, for spaCy mixes up the mentions
    of a batch then. For the settings see `spacy.pipeline.EntityLinker`.

    nlp (Language): The pipeline.
    name (str): Of the component.
    """
    return EntityLinker(
        nlp.vocab,
        model,
        name,
        labels_discard=labels_discard,
        n_sents=n_sents,
        incl_prior=incl_prior,
        incl_context=incl_context,
        entity_vector_length=1,
        get_candidates=get_candidates,
        get_candidates_batch=get_candidates_batch,
        generate_empty_kb=generate_empty_kb,
        overwrite=overwrite,
        scorer=scorer,
        use_gold_ents=use_gold_ents,
        candidates_batch_size=1 if labels_discard else 64,
        threshold=threshold,
    )


def _unpickle(
    vocab: Vocab, entity_vector_length: int, settings: LinkerSettings, reduced: dict[str, Any]
) -> AliasKnowledgeBase:
    kb = AliasKnowledgeBase(vocab, entity_vector_length, settings=settings)
    if reduced:
        kb.set_parts(LinkerParts.restored(reduced, settings, name=_NAME))
    return kb
