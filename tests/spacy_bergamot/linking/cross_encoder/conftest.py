"""Tokenizers and language models of two families, a mix, and a cross-encoder that knows nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.cross_encoder.files import Trained
from spacy_bergamot.linking.cross_encoder.model import PairModel
from spacy_bergamot.linking.cross_encoder.reading import Blend
from spacy_bergamot.linking.features import FEATURES, OF_NIL
from spacy_bergamot.linking.learned_mix import Weights

TEXT = "heart attack infarct common cold a the of in MRI imaging fever is here T047 ( ) , ."
WORDS = TEXT.split(" ")
ENDS = {"bert": ("[CLS]", "[SEP]"), "roberta": ("<s>", "</s>")}


def make_tokenizer(family: str) -> Tokenizer:
    """Return a tokenizer of words with the template of a family, or with none."""
    first, last = ENDS.get(family, ENDS["bert"])
    pieces = [last, "<pad>", first, "[UNK]", *WORDS]  # <pad> is 1, as in XLM-R
    tokenizer = Tokenizer(
        models.WordLevel({piece: row for row, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    templates = {
        "bert": (f"{first} $A {last}", f"{first} $A {last} $B:1 {last}:1"),
        "roberta": (f"{first} $A {last}", f"{first} $A {last} {last} $B {last}"),
        "single": (f"{first} $A {last}", None),
        "bare": ("$A", None),
    }
    single, pair = templates[family]
    ends = [(piece, pieces.index(piece)) for piece in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=ends, **({"pair": pair} if pair else {})
    )
    return tokenizer


@pytest.fixture(scope="session")
def make_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write a tiny language model of a family, with random weights."""
    from transformers import BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

    kinds = {"bert": (BertConfig, BertModel), "roberta": (XLMRobertaConfig, XLMRobertaModel)}

    def make(family: str) -> Path:
        folder = tmp_path_factory.mktemp(family) / "lm"
        config, model = kinds[family]
        tokenizer = make_tokenizer(family)
        torch.manual_seed(0)
        settings = config(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=2,
            num_attention_heads=4, intermediate_size=64, max_position_embeddings=64,
            initializer_range=0.5, pad_token_id=1, type_vocab_size=2 if family == "bert" else 1,
        )  # fmt: skip
        model(settings).save_pretrained(folder)
        tokenizer.save(str(folder / "tokenizer.json"))
        EncoderSettings(pooling="cls").write(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def pair_model(make_folder: Callable[[str], Path]) -> PairModel:
    torch.manual_seed(0)
    return PairModel.begin(make_folder("bert")).eval()


@pytest.fixture(scope="session")
def kb(index: AliasIndex) -> KnowledgeBase:
    return KnowledgeBase(index)


@pytest.fixture
def weights() -> Weights:
    """A mix that goes by the score alone."""
    of_candidate = dict.fromkeys(FEATURES, 0.0) | {"score": 4.0}
    return Weights(of_candidate, {}, dict.fromkeys(OF_NIL, 0.0) | {"constant": 1.0})


@pytest.fixture
def trained(pair_model: PairModel, weights: Weights, index: AliasIndex, tmp_path: Path) -> Path:
    """A folder of a cross-encoder that was not trained."""
    made = Trained(
        pair_model, weights, Blend(0.5, 1.0, 0.1), 40, 30, index.fingerprint, "any generator"
    )
    made.save(tmp_path / "trained")
    return tmp_path / "trained"
