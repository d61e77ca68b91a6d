"""AliasKnowledgeBase: what spaCy's own `entity_linker` trains and predicts with, over our index."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from spacy.kb import Candidate as SpacyCandidate
from spacy.kb import KnowledgeBase
from spacy.tokens import Span
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.linking.recent import Recent
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.parts import LinkerParts
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.text import normalize

NAME = "bergamot_entity_linker"
_REMEMBERED = 100_000


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
        self._vectors: Recent[str, np.ndarray] = Recent(_REMEMBERED)

    @property
    def parts(self) -> LinkerParts:
        """Language model and index.

        RAISES (BergamotError): B030 if there are none.
        """
        if self._parts is None:
            raise BergamotError(Errors.B030, name=NAME)
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
        self._vectors = Recent(_REMEMBERED)
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
        known = self._vectors.known(entities)
        fresh = [entity for entity in dict.fromkeys(entities) if entity not in known]
        concepts = {entity: self.parts.kb.find(entity) for entity in fresh}
        named = {entity: c.canonical_name for entity, c in concepts.items() if c is not None}
        if named:
            known.update(zip(named, self.parts.encoder.encode(list(named.values())), strict=True))
        nothing = np.zeros(self.entity_vector_length, dtype=np.float32)
        known.update((entity, nothing) for entity in fresh if entity not in known)
        self._vectors.keep(known)
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
            LinkerParts.from_disk(path, self.settings, name=NAME, exclude=exclude)
        )

    def to_bytes(self, **kwargs: Any) -> bytes:
        """Return language model and index as msgpack."""
        return self.parts.to_bytes()

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "AliasKnowledgeBase":
        """Restore language model and index.

        bytes_data (bytes): What `to_bytes` returned.
        exclude (Iterable[str]): Unused: the parts are one whole.
        """
        return self.set_parts(LinkerParts.from_bytes(bytes_data, self.settings, name=NAME))

    def __reduce__(self) -> tuple:
        bundles = self._parts.bundles if self._parts is not None else None
        return _unpickle, (self.vocab, self.entity_vector_length, self.settings, bundles)


def _unpickle(
    vocab: Vocab,
    entity_vector_length: int,
    settings: LinkerSettings,
    bundles: dict[str, FileBundle] | None,
) -> AliasKnowledgeBase:
    kb = AliasKnowledgeBase(vocab, entity_vector_length, settings=settings)
    if bundles is not None:
        kb.set_parts(LinkerParts(bundles, settings, name=NAME))
    return kb
