"""Settings of the finder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FinderSettings:
    """Settings of `bergamot_finder`; they live in the config alone.

    threshold (float): Least probability of a mention, the mean of its words'.
    agreement (float | None): Least probability that an entity which is there is of its kind, a
        disorder or something else that the finder knows; one below it goes. So do those in a
        mention of the finder's, unless two are of its label, or one of another has the same words.
        Put `bergamot_mentions` in front then.
    spans_key (str | None): Write `doc.spans[spans_key]` instead of `doc.ents`.
    device (str): "cpu", "cuda", "cuda:1", "mps", or "auto" for a GPU where there is one.
    precision (str): "fp32", "bf16", or "auto": bf16 where the device multiplies in it.
    batch_pieces (int): Pieces of words per forward pass.
    """

    threshold: float = 0.5
    agreement: float | None = None
    spans_key: str | None = None
    device: str = "cpu"
    precision: str = "fp32"
    batch_pieces: int = 4096
