"""Where a language model runs, and in what."""

import pytest
import torch

from spacy_bergamot.encoder.device import resolve_device, resolve_precision
from spacy_bergamot.errors import BergamotError


@pytest.mark.parametrize("device", ["cuda:99", "gpu", "", "tpu:0"])
def test_a_device_that_is_not_there_is_named(device: str):
    with pytest.raises(BergamotError, match="B012"):
        resolve_device(device)
    assert resolve_device("cpu") == "cpu"
    assert resolve_device("auto") in ("cpu", "cuda")


def test_auto_is_bf16_where_the_device_multiplies_in_it(monkeypatch: pytest.MonkeyPatch):
    has: set[str] = set()
    for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda name=name: name in has, raising=False)
    assert resolve_precision("auto", "cpu") == "fp32"
    has.add("_is_avx512_bf16_supported")
    assert resolve_precision("auto", "cpu") == "bf16"
    assert resolve_precision("fp16", "cpu") == "fp16"
    monkeypatch.delattr(torch.cpu, "_is_avx512_bf16_supported")  # an older torch
    assert resolve_precision("auto", "cpu") == "fp32"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for capability, precision in (((7, 5), "fp32"), ((9, 0), "bf16")):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _, of=capability: of)
        assert resolve_precision("auto", "cuda") == resolve_precision("auto", "auto") == precision
    with pytest.raises(BergamotError, match="B014"):
        resolve_precision("fp8", "cpu")
