"""`bergamot_entity_linker`: spaCy's own `entity_linker` over our index. It needs sentences."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.kb import Candidate as SpacyCandidate
from spacy.kb import KnowledgeBase
from spacy.language import Language
from spacy.pipeline import EntityLinker
from spacy.tokens import Span
from spacy.vocab import Vocab

from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.alias_knowledge_base import NAME, AliasKnowledgeBase
from spacy_bergamot.pipeline.loaders import IndexLoader, LmLoader
from spacy_bergamot.pipeline.parts import ENCODER, INDEX, NEEDED, LinkerParts
from spacy_bergamot.storage.bundle import FileBundle

EmptyKb = Callable[[Vocab, int], AliasKnowledgeBase]


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
        return kb.set_parts(LinkerParts(bundles, kb.settings, name=NAME))

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
    NAME,
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
