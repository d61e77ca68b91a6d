"""Translators by name: a model's folder, or any function of texts to texts."""

import importlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from training.errors import BergamotError, Errors

Translate = Callable[[list[str]], list[str]]

_ISO_639_3 = {
    "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa", "et": "est",
    "eu": "eus", "fi": "fin", "fr": "fra", "he": "heb", "hr": "hrv", "hu": "hun", "it": "ita",
    "ja": "jpn", "ko": "kor", "lv": "lvs", "nl": "nld", "no": "nob", "pl": "pol", "pt": "por",
    "ru": "rus", "sv": "swe", "th": "tha", "tr": "tur", "zh": "zho",
}  # fmt: skip
_BEAMS = 5
_LEAST_TOKENS, _TIMES = 128, 1.5


def load_translator(spec: str, *, source: str, target: str, device: str = "cpu") -> Translate:
    """Return a translator.

    spec (str): "hf:FOLDER", a model that transformers loads for sequence to sequence (Marian, NLLB,
        M2M100, MADLAD), or "module:function", a function of a list of texts to as many texts.
    source, target (str): Languages, as "en". device (str): Of a model.
    RAISES (BergamotError): T285 if there is none, B014 for a language that a model lacks.
    """
    kind, _, name = spec.partition(":")
    if kind == "hf":
        return _Model(Path(name), source=source, target=target, device=device)
    try:
        function = getattr(importlib.import_module(kind), name)
    except (ImportError, AttributeError, ValueError) as reason:
        raise BergamotError(Errors.T285, value=spec, reason=reason) from None
    if not callable(function):
        raise BergamotError(Errors.T285, value=spec, reason=f"{name} is no function")
    return function


class _Model:
    """A sequence-to-sequence model, with beam search."""

    def __init__(self, folder: Path, *, source: str, target: str, device: str) -> None:
        if not (folder / "config.json").is_file():
            reason = f"{folder} has no config.json"
            raise BergamotError(Errors.T285, value=f"hf:{folder}", reason=reason)
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        given: dict[str, Any] = {"local_files_only": True}
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(
                str(folder), trust_remote_code=False, **given
            )
            model = AutoModelForSeq2SeqLM.from_pretrained(
                str(folder), trust_remote_code=False, **given
            )
        except (OSError, ValueError, ImportError) as reason:
            raise BergamotError(Errors.T285, value=f"hf:{folder}", reason=reason) from None
        self.torch = torch
        self.model = model.eval().to(device)
        self.first: dict[str, int] = {}
        codes = set(self.tokenizer.additional_special_tokens)
        if hasattr(self.tokenizer, "src_lang"):  # one model of many languages
            self.tokenizer.src_lang = _token(source, codes, folder).strip("_")
            token = self.tokenizer.convert_tokens_to_ids(_token(target, codes, folder))
            self.first = {"forced_bos_token_id": token}

    def __call__(self, texts: list[str]) -> list[str]:
        batch = self.tokenizer(texts, return_tensors="pt", padding=True, truncation=True)
        length = batch["input_ids"].shape[1]
        with self.torch.inference_mode():
            made = self.model.generate(
                **batch.to(self.model.device),
                num_beams=_BEAMS,
                max_length=max(_LEAST_TOKENS, int(_TIMES * length)),
                **self.first,
            )
        return list(self.tokenizer.batch_decode(made, skip_special_tokens=True))


def _token(language: str, known: Collection[str], folder: Path) -> str:
    """Return the token of a language: fr, __fr__ or fra_Latn."""
    long = _ISO_639_3.get(language, language)
    for token in sorted(known):
        if token in (language, f"__{language}__") or token.partition("_")[0] == long:
            return token
    shown = ", ".join(sorted(known)[:20]) or "none"
    what = f"language of the model in {folder}:"
    raise BergamotError(Errors.B014, what=what, value=language, choices=shown)
