"""How a mention finder is trained."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """How a finder is trained.

    epochs (int): Passes over the documents. batch_pieces (int): Pieces of words per step.
    learn_rate (float): Of the language model, at its highest; the head's is five times that.
    swap_share (float): Of gold mentions whose concept is in the knowledge base, those that get
        another name of it, in any language.
    recase_share (float): Of documents that are read in capitals or in small letters.
    average (float): Decay of the mean over steps of the parameters, which is what is measured and
        kept; 0 for those of the last step.
    precision (str): "fp32", "bf16" or "auto". seed (int): Of order, swaps, dropout and the head.
    """

    epochs: int = 4
    batch_pieces: int = 1024
    learn_rate: float = 2e-4
    swap_share: float = 0.1
    recase_share: float = 0.1
    average: float = 0.998
    precision: str = "fp32"
    seed: int = 0
