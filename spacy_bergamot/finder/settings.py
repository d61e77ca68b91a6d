"""Settings of the finder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FinderSettings:
    """Settings of `bergamot_finder`; they live in the config alone.

    threshold (float): Least probability of a mention, the mean of its words'.
    agreement (float | None): Least probability of an entity that is there, with a label that the
        finder knows, to be in a mention; one below it goes, and so do others that overlap a mention
        of the finder's, unless they are of its label and two, or longer, or of another label and
        cover it. Put `bergamot_mentions` in front then.
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
