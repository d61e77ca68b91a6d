"""How a cross-encoder is trained."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """How a cross-encoder is trained.

    epochs (int): Passes over the mentions. batch_mentions (int): Mentions per step.
    batch_tokens (int): Tokens per forward pass; a step takes as many passes as it needs.
    learn_rate (float): Of the language model, at its highest; marks and head have five times that.
    warm_up (int): Steps until then. rank_weight (float): λ of the loss.
    k (int): Candidates of a mention that are read at most. size (int): Tokens of a mention with a
        candidate. context (int): Characters on either side of a mention.
    margin (float): Mentions are read whose best two alternatives are nearer than this.
    dev (float): Share of the documents that the best epoch is chosen by.
    precision (str): "fp32", "bf16" or "auto". seed (int): Of order, dropout and the head.
    checkpoint_steps (int): Steps between checkpoints.
    """

    epochs: int = 3
    batch_mentions: int = 8
    batch_tokens: int = 4096
    learn_rate: float = 1e-4
    warm_up: int = 100
    rank_weight: float = 0.1
    k: int = 16
    size: int = 192
    context: int = 128
    margin: float = 0.7
    dev: float = 0.2
    precision: str = "fp32"
    seed: int = 0
    checkpoint_steps: int = 50
