"""spaCy's own entity linker over our index: it trains, is saved, and learns from context."""

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.alias_knowledge_base import AliasKnowledgeBase

CONTEXTS = {
    "C04": ["He sneezes and coughs from a cold again.", "Her nose runs with a cold in winter."],
    "C05": [
        "The cold of the freezer room is measured.",
        "Samples stay in the cold overnight.",
    ],
}


def examples(nlp) -> list[Example]:
    made = []
    for concept_id, texts in CONTEXTS.items():
        for text in texts:
            doc = nlp.make_doc(text)
            place = text.index("cold")
            span = doc.char_span(place, place + 4, label="X", kb_id=concept_id)
            doc.set_ents([span])
            for token in doc:
                token.is_sent_start = token.i == 0
            made.append(Example(nlp.make_doc(text), doc))
    return made


@pytest.fixture(scope="module")
def trained(loader):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    linker = nlp.add_pipe("bergamot_entity_linker", config={"incl_prior": False})
    given = examples(nlp)
    linker.initialize(lambda: given, nlp=nlp, kb_loader=loader)
    optimizer = nlp.create_optimizer()
    for _ in range(60):
        losses: dict[str, float] = {}
        nlp.update(given, sgd=optimizer, losses=losses)
    return nlp


def links(nlp) -> list[str]:
    found = []
    for example in examples(nlp):
        doc = example.reference.copy()
        doc.set_ents([Span(doc, ent.start, ent.end, label="X") for ent in doc.ents])
        found.append(nlp.get_pipe("bergamot_entity_linker")(doc).ents[0].kb_id_)
    return found


def test_homonyms_are_told_apart_by_context(trained):
    assert links(trained) == ["C04", "C04", "C05", "C05"]


def test_a_trained_linker_survives_disk(trained, tmp_path):
    trained.to_disk(tmp_path / "p")
    loaded = spacy.load(tmp_path / "p")
    assert links(loaded) == ["C04", "C04", "C05", "C05"]
    kb = loaded.get_pipe("bergamot_entity_linker").kb
    assert isinstance(kb, AliasKnowledgeBase)
    assert len(kb) == 10


def test_an_empty_knowledge_base_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("bergamot_entity_linker")
    kb = nlp.get_pipe("bergamot_entity_linker").kb
    assert kb.is_empty()
    assert len(kb) == 0
    with pytest.raises(ValueError, match="E139"):
        nlp.get_pipe("bergamot_entity_linker").initialize(lambda: examples(nlp), nlp=nlp)
    with pytest.raises(BergamotError, match="B030"):
        kb.get_vector("C01")


def test_it_is_initialised_from_a_config(concepts, lm, tmp_path):
    """The way of `spacy train`: the index is built at initialisation, with the same settings."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("bergamot_entity_linker", config={"generate_empty_kb": {"k": 3}})
    config = nlp.config.copy()
    config["initialize"]["components"]["bergamot_entity_linker"] = {
        "kb_loader": {
            "@misc": "spacy_bergamot.KnowledgeBase.v1",
            "empty": config["components"]["bergamot_entity_linker"]["generate_empty_kb"],
            "encoder": {"@misc": "spacy_bergamot.LanguageModel.v1", "path": str(lm)},
            "index": {
                "@misc": "spacy_bergamot.AliasIndex.v1",
                "concepts": str(concepts),
                "engine": "exact",
            },
        }
    }
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: examples(nlp))
    kb = nlp.get_pipe("bergamot_entity_linker").kb
    assert len(kb.get_candidates(nlp("colds")[:])) == 3
