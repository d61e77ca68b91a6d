import os
import platform
import subprocess
import sys
from pathlib import Path

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

POLARS_PROBE = """
import resource, sys, time
if sys.argv[1] == "keep":
    import training
import polars as pl

before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    numbers = pl.arange(0, 25_000_000, eager=True)
    del numbers
    time.sleep(1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="polars has another allocator elsewhere")
def test_memory_that_polars_freed_is_taken_once():
    assert 2 * printed(POLARS_PROBE, "keep") < printed(POLARS_PROBE, "give")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of the GNU C library alone")
def test_freed_memory_stays_with_the_process():
    assert printed(PROBE, "give") < 50_000_000 < printed(PROBE, "keep")


def printed(probe: str, choice: str) -> int:
    environment = {k: v for k, v in os.environ.items() if k != "_RJEM_MALLOC_CONF"}
    done = subprocess.run(
        [sys.executable, "-c", probe, choice],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[3],
    )
    return int(done.stdout)


def test_another_system_is_left_as_it_is(monkeypatch):
    def refuse(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(memory.ctypes, "CDLL", refuse)
    memory.keep_freed_memory()
