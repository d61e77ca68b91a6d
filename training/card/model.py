"""What a pipeline's language model is, and how it was trained where the run's folder says so."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import safe_open

from spacy_bergamot.encoder.text_encoder import fingerprint
from training.bergamot.validation import METRIC
from training.configs import load_config
from training.errors import BergamotError, Errors

if TYPE_CHECKING:
    from spacy_bergamot.encoder.text_encoder import TextEncoder

CONFIG, HISTORY = "config.cfg", "history.json"
E5 = "multilingual-e5-small (Wang et al. 2024)"

_BASES = {"scratch.v1": "none: made and trained from scratch", "multilingual_e5.v1": E5}
_LICENCES = {"multilingual_e5.v1": "MIT"}
"""Of base language models whose licence is public; it holds for what is trained from them."""


def model_facts(folder: Path, encoder: "TextEncoder") -> dict[str, Any]:
    """Return architecture, parameters, vocabulary and settings of the model in a folder."""
    config, model = encoder.model.config, encoder.model
    return {
        "fingerprint": fingerprint(folder),
        "architecture": config.model_type,
        "layers": getattr(config, "num_hidden_layers", None),
        "width": encoder.dim,
        "vocabulary": config.vocab_size,
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "embedding_parameters": model.get_input_embeddings().weight.numel(),
        "dtype": stored_type(folder),
        "precision": encoder.precision,
        "device": encoder.device,
        "pooling": encoder.settings.pooling,
        "max_tokens": encoder.settings.max_length,
    }


def stored_type(folder: Path) -> str:
    """Return the type, such as F32, that most weights in the folder's safetensors have."""
    sizes: Counter[str] = Counter()
    for path in folder.glob("model*.safetensors"):
        with safe_open(path, framework="np") as file:
            for part in map(file.get_slice, file.keys()):
                sizes[part.get_dtype()] += math.prod(part.get_shape())
    return sizes.most_common(1)[0][0] if sizes else ""


def training_facts(lm: Path, *, expected: str, pipeline: Path) -> dict[str, Any]:
    """Return base, objectives and steps that the folder of a training run says.

    lm (Path): The model that the run exported, such as models/train/lm.
    expected (str): The fingerprint of the pipeline's model.
    RAISES (BergamotError): T502 if it is another model, B002 for a broken history.
    """
    if fingerprint(lm) != expected:
        raise BergamotError(Errors.T502, path=lm, what="language model", pipeline=pipeline)
    return _of_config(lm.parent / CONFIG) | _of_history(lm.parent / HISTORY)


def _of_config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    config = load_config(path, interpolate=False)
    kind = str(config.get("text_encoder", {}).get("@text_encoders", ""))
    facts: dict[str, Any] = {"base": base_of(kind, config.get("text_encoder", {}))}
    if kind in _LICENCES:
        facts["base_licence"] = _LICENCES[kind]
    objectives = config.get("objectives", {})
    facts["objectives"] = {
        name: section.get("weight", 1.0)
        for name, section in objectives.items()
        if section.get("weight", 1.0) > 0
    }
    if "size" in config.get("batches", {}):
        facts["batch"] = config["batches"]["size"]
    return {key: value for key, value in facts.items() if value}


def base_of(kind: str, section: dict[str, Any]) -> str:
    """Return the base language model of a config in words, without a folder of this machine."""
    name = str(section.get("name") or section.get("package") or "")
    if kind in _BASES or not name:
        return _BASES.get(kind, kind)
    path = Path(name)
    return path.name if path.is_absolute() or name.startswith(".") or path.exists() else name


def _of_history(path: Path) -> dict[str, Any]:
    """Return the steps of the model that was exported: the best by validation, or the last."""
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf8"))
        validated = [entry for entry in entries if METRIC in entry]
        if validated:
            best = max(validated, key=lambda entry: entry[METRIC])
            return {"steps": int(best["step"]), "validation_recall@1": round(best[METRIC] / 100, 4)}
        return {"steps": int(entries[-1]["step"])} if entries else {}
    except (ValueError, KeyError, TypeError) as reason:
        raise BergamotError(
            Errors.B002, path=path, what="history.json of a run", reason=reason
        ) from None
