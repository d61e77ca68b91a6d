"""What a training step takes: seconds, CPU-seconds, memory, and the rate that is possible."""

import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch


@dataclass
class Side:
    """What one side took: seconds, CPU-seconds and MiB above the start, over all its steps."""

    seconds: float = 0.0
    cpu: float = 0.0
    mib: float = 0.0
    tokens: int = 0


def measure(run: Callable[[], float], device: torch.device) -> tuple[Side, float]:
    """Return what a call took, and its result."""
    before = 0
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.synchronize(device)
    usage, start = cpu_seconds(), time.perf_counter()
    result = run()
    mib = 0.0
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        mib = (torch.cuda.max_memory_allocated(device) - before) / 2**20
    return Side(time.perf_counter() - start, cpu_seconds() - usage, mib), result


class MemoryWatch:
    """Highest resident memory above the start, MiB, sampled every 5 ms."""

    mib = 0.0

    def __enter__(self) -> "MemoryWatch":
        self.done = threading.Event()
        self.start = resident()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _run(self) -> None:
        while not self.done.wait(0.005):
            self.mib = max(self.mib, resident() - self.start)


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def product_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Return the FLOP/s of a large matrix product on the device."""
    size = 8192 if device.type == "cuda" else 2048
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    a @ b
    repeats = 20 if device.type == "cuda" else 3
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    start = time.perf_counter()
    for _ in range(repeats):
        a @ b
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return repeats * 2 * size**3 / (time.perf_counter() - start)
