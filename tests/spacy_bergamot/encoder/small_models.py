"""Small models of several families, and their vectors of each name alone."""

from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn.functional import normalize
from transformers import BertModel

from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import TextEncoder

PAD = 1
WORDS = ["[unk]", "[pad]", *(f"w{number}" for number in range(40))]
SIZES: dict[str, Any] = {
    "vocab_size": len(WORDS), "hidden_size": 32, "num_hidden_layers": 3, "pad_token_id": PAD,
    "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 40,
    "initializer_range": 0.5,
}  # fmt: skip


def make_model(family: Any, **settings: Any) -> Any:
    torch.manual_seed(0)
    model = family(family.config_class(**SIZES | settings))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return model.eval()


def make_adapted() -> Any:
    from peft import LoraConfig, inject_adapter_in_model

    adapter = LoraConfig(target_modules=["query", "dense"], init_lora_weights=False)
    return inject_adapter_in_model(adapter, make_model(BertModel)).eval()


def make_encoder(model: Any, pooling: str = "mean", **settings: Any) -> TextEncoder:
    words = models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[unk]")
    tokenizer = Tokenizer(words)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(25)
    return TextEncoder(model, tokenizer, EncoderSettings(pooling=pooling), **settings)


def some_names() -> list[str]:
    """Return names of 1 to 27 tokens, three of each length, shuffled; one holds a padding token."""
    rng = np.random.default_rng(0)
    names = [" ".join(rng.choice(WORDS[2:], 1 + n % 27)) for n in range(81)]
    return [*rng.permutation(names).tolist(), "w1 [pad] w2 w3"]


def alone(encoder: TextEncoder, names: list[str]) -> np.ndarray:
    """Encode every name by the module's own forward pass, without padding."""
    vectors = []
    for ids in encoder.tokenize(names):
        with torch.no_grad():
            hidden = encoder.model(input_ids=torch.tensor([ids])).last_hidden_state[0].float()
        vectors.append(hidden[0] if encoder.settings.pooling == "cls" else hidden.mean(0))
    return normalize(torch.stack(vectors), dim=-1).numpy()


def calls(module: Any) -> list[torch.Size]:
    """Return a list that gets the shape of the module's output at every call, or None."""
    seen: list[Any] = []
    module.register_forward_hook(lambda _, __, out: seen.append(getattr(out, "shape", None)))
    return seen
