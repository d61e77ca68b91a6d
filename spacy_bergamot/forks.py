"""ForkWatch: what a component does first in a process forked from the one it was made in."""

import os


class ForkWatch:
    """Notices a fork, once per process, and lets torch and tokenizers use one thread there.

    After they have used several threads, a forked process that uses more than one hangs. Tokenizers
    sees to it by itself unless TOKENIZERS_PARALLELISM is set.
    """

    def __init__(self) -> None:
        self._process = os.getpid()

    def forked(self) -> bool:
        """Tell whether this is the first call in a forked process."""
        if os.getpid() == self._process:
            return False
        import torch

        torch.set_num_threads(1)
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        self._process = os.getpid()
        return True
