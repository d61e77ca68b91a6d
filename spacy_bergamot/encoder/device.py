"""Where a language model runs, and in what."""

from spacy_bergamot.errors import BergamotError, Errors, check_choice

FP32, BF16, FP16, AUTO = "fp32", "bf16", "fp16", "auto"
PRECISIONS = (FP32, BF16, FP16, AUTO)


def resolve_device(device: str) -> str:
    """Return a usable torch device; "auto" is the first GPU where there is one.

    device (str): "cpu", "cuda", "cuda:1", "mps" or "auto".
    RAISES (BergamotError): B012 if a GPU is asked for where torch sees none.
    """
    import torch

    if device == AUTO:
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind = device.partition(":")[0]
    present = {"cpu": True, "cuda": torch.cuda.is_available()}
    present["mps"] = torch.backends.mps.is_available()
    number = device.partition(":")[2]
    beyond = kind == "cuda" and number.isdigit() and int(number) >= torch.cuda.device_count()
    if not present.get(kind, False) or beyond:
        raise BergamotError(Errors.B012, device=device)
    return device


def resolve_precision(precision: str, device: str) -> str:
    """Return the precision to run in; "auto" is bf16 where the device multiplies in it, else fp32.

    precision (str): "fp32", "bf16", "fp16" or "auto".
    device (str): See `resolve_device`.
    RAISES (BergamotError): B014 for another precision, B012 for a GPU that is not there.
    """
    check_choice("precision", precision, PRECISIONS)
    if precision != AUTO:
        return precision
    return BF16 if _multiplies_in_bf16(resolve_device(device)) else FP32


def _multiplies_in_bf16(device: str) -> bool:
    import torch

    kind = device.partition(":")[0]
    if kind == "cuda":
        # Older ones emulate it, slower than fp32, and torch.cuda.is_bf16_supported() says yes.
        return torch.version.hip is not None or torch.cuda.get_device_capability(device) >= (8, 0)
    # Without such instructions bf16 is slower than fp32. Versions of torch that cannot tell say no.
    tells = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return kind == "cpu" and any(getattr(torch.cpu, name, bool)() for name in tells)
