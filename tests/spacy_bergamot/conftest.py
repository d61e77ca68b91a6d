"""An invented knowledge base in six languages and a tiny language model made on the spot."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from spacy_bergamot.encoder.text_encoder import EncoderSettings, TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import tables_of
from spacy_bergamot.pipeline.build import write_names
from spacy_bergamot.pipeline.loaders import alias_index, concept_table, language_model

CONCEPTS = {
    "C01": ("T047", {"ENG": ["Hypertension", "high blood pressure"], "SPA": ["hipertensión"],
                     "GER": ["Bluthochdruck"], "JPN": ["高血圧"], "RUS": ["гипертония"]}),
    "C02": ("T047", {"ENG": ["diabetes mellitus", "diabetes"], "JPN": ["糖尿病"],
                     "RUS": ["сахарный диабет"], "CHI": ["糖尿病"]}),
    "C03": ("T047", {"ENG": ["myocardial infarction", "heart attack", "MI"],
                     "GER": ["Herzinfarkt"], "CHI": ["心肌梗死"]}),
    "C04": ("T047", {"ENG": ["common cold", "cold"]}),
    "C05": ("T070", {"ENG": ["cold temperature", "cold"]}),
    "C06": ("T023", {"ENG": ["heart"], "SPA": ["corazón"], "RUS": ["сердце"]}),
    "C07": ("T121", {"ENG": ["aspirin", "acetylsalicylic acid", "ASA"], "GER": ["Aspirin"]}),
    "C08": ("T121", {"ENG": ["insulin"], "JPN": ["インスリン"]}),
    "C09": ("T060", {"ENG": ["magnetic resonance imaging", "MRI"],
                     "SPA": ["resonancia magnética"]}),
    "C10": ("T184", {"ENG": ["fever", "pyrexia"], "GER": ["Fieber"], "JPN": ["発熱"]}),
}  # fmt: skip
GROUPS = {
    "T047": "DISO",
    "T070": "PHEN",
    "T023": "ANAT",
    "T121": "CHEM",
    "T060": "PROC",
    "T184": "DISO",
    "T080": "CONC",
}


def write_concepts(path: Path, known: dict = CONCEPTS) -> Path:
    """Write a concept table of {concept id: (semantic type, {language: [name, ...]})}."""
    ids = sorted(known)
    aliases = [
        (row, alias, language, f"SRC{language}", "PT" if n == 0 else "SY")
        for row, concept in enumerate(ids)
        for language, names in known[concept][1].items()
        for n, alias in enumerate(names)
    ]
    types = [(row, known[c][0], GROUPS[known[c][0]]) for row, c in enumerate(ids)]
    names = [known[c][1]["ENG"][0] for c in ids]
    rows = {
        "concepts": [(c, name, "A definition." if c == "C01" else None)
                     for c, name in zip(ids, names, strict=True)],
        "aliases": aliases,
        "types": types,
        "codes": [(0, "ICD10CM", "I10"), (0, "SRCENG", "x1")],
        "relations": [(5, "CHD", "isa", 2, "SRCENG"), (5, "RO", "finding_site_of", 2, "SRCENG")],
    }  # fmt: skip
    ConceptTable.write(path, tables_of(rows), release=[{"source": "SRCENG", "version": "1"}])
    return path


def write_lm(path: Path, seed: int = 0, *, words: Sequence[str] = (), **settings: object) -> Path:
    """Write a tiny BERT with random weights whose vocabulary has the words of `CONCEPTS`, and more
    words; settings: of its config."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    names = [n.lower() for _, by in CONCEPTS.values() for ns in by.values() for n in ns]
    splitter = pre_tokenizers.BertPreTokenizer()
    known = {word for name in names for word, _ in splitter.pre_tokenize_str(name)}
    words = sorted(known.union(words))
    letters = sorted({letter for word in words for letter in word})
    pieces = dict.fromkeys([*special, *letters, *(f"##{letter}" for letter in letters), *words])
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = splitter
    ends = [(t, tokenizer.token_to_id(t)) for t in special[2:]]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    }
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), **{**sizes, **settings})
    BertModel(config).save_pretrained(path)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(path)
    EncoderSettings(pooling="mean").write(path)
    return path


@pytest.fixture(scope="session")
def concepts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_concepts(tmp_path_factory.mktemp("kb") / "concepts")


@pytest.fixture(scope="session")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("lm") / "lm")


@pytest.fixture(scope="session")
def make_nlp(concepts: Path, lm: Path) -> Callable[..., Language]:
    """Make an initialised pipeline of a ruler-free matcher and a linker with given settings."""

    def make(*, mentions: bool = True, engine: str = "exact", **config: object) -> Language:
        nlp = spacy.blank("xx")
        if mentions:
            matcher = nlp.add_pipe("bergamot_mentions")
            matcher.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(concepts)))
        linker = nlp.add_pipe("bergamot_linker", config=config)
        linker.initialize(
            lambda: [],
            nlp=nlp,
            encoder=language_model(str(lm)),
            index=alias_index(str(concepts), engine=engine),
        )
        return nlp

    return make


@pytest.fixture(scope="session")
def index(concepts: Path, lm: Path, tmp_path_factory: pytest.TempPathFactory) -> AliasIndex:
    """Return the exact index of the invented knowledge base."""
    path = tmp_path_factory.mktemp("index") / "index"
    alias_index(str(concepts), engine="exact")(path, lm)
    return AliasIndex.open(path)


@pytest.fixture(scope="session")
def nlp(make_nlp: Callable[..., Language]) -> Language:
    return make_nlp()


@pytest.fixture
def saved(nlp: Language, tmp_path: Path) -> Path:
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.fixture
def make_kb(lm: Path, tmp_path: Path) -> Callable[..., KnowledgeBase]:
    """Make a knowledge base of names alone, as `build_pipeline` does of a dict."""

    def make(*concept_ids: str) -> KnowledgeBase:
        names = {concept_id: f"name {n}" for n, concept_id in enumerate(concept_ids)}
        write_names(tmp_path / "concepts", names, language="ENG")
        encoder = TextEncoder.open(lm)
        AliasIndex.build(
            tmp_path / "index", tmp_path / "concepts", encoder,
            lm_fingerprint=fingerprint(lm), engine="exact",
        )  # fmt: skip
        return KnowledgeBase(AliasIndex.open(tmp_path / "index"))

    return make
