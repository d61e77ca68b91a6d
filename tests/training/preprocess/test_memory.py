import platform
import subprocess
import sys

import pytest

from training.preprocess import memory

PROBE = """
import sys
import numpy as np
from training.preprocess.memory import keep_freed_memory

def resident():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * 4096

if sys.argv[1] == "keep":
    keep_freed_memory()
before = resident()
array = np.ones(100_000_000, dtype=np.uint8)
del array
print(resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of the GNU C library alone")
def test_freed_memory_stays_with_the_process():
    def left(choice: str) -> int:
        command = [sys.executable, "-c", PROBE, choice]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert left("give") < 50_000_000 < left("keep")


def test_another_system_is_left_as_it_is(monkeypatch):
    def refuse(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(memory.ctypes, "CDLL", refuse)
    memory.keep_freed_memory()
