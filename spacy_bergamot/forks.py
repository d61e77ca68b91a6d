"""ForkWatch: what a component does first in a process forked from the one it was made in."""

import os


class ForkWatch:
    """Notices a fork, once per process, and lets torch use one thread there.

    After torch has used several threads, a forked process that uses more than one hangs.
    """

    def __init__(self) -> None:
        self._process = os.getpid()

    def forked(self) -> bool:
        """Tell whether this is the first call in a forked process."""
        if os.getpid() == self._process:
            return False
        import torch

        torch.set_num_threads(1)
        self._process = os.getpid()
        return True
