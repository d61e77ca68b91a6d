"""Steps that last are logged, with their seconds."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Log what is being done, and how many seconds it took."""
    start = time.perf_counter()
    logger.info("%s …", step)
    yield
    logger.info("%s: %.1f s", step, time.perf_counter() - start)
