"""Steps that last are logged, with their seconds and the peak of memory so far."""

import logging
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_MAC = sys.platform == "darwin"

logger = logging.getLogger(__name__)


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Log what is being done, how many seconds and CPU-seconds it took, and memory's peak.

    step (str): What is being done.
    """
    start, cpu = time.perf_counter(), time.process_time()
    logger.info("%s …", step)
    yield
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2 ** (20 if _MAC else 10)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    logger.info("%s: %.1f s, %.1f CPU-seconds, peak %d MiB", step, seconds, cpu, peak)
