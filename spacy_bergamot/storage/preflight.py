"""What a long step will need, said before it begins; and whether the machine has it.

The constants are measured (docs/scale.md says how). A disk that is too small stops the step; too
little memory is only a warning, since the figures are estimates.
"""

import logging
import os
import shutil
from pathlib import Path

from spacy_bergamot.errors import BergamotError, Errors

_CGROUP = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)

logger = logging.getLogger(__name__)


def announce(
    step: str, *, memory: int, disk: int, folder: Path, seconds: float | None = None
) -> None:
    """Log what a step needs, and stop it if the disk is too small.

    memory (int): Bytes at the peak.
    disk (int): Bytes written into `folder`.
    seconds (float | None): How long it will take, where that is known.
    RAISES (BergamotError): B043.
    """
    free = free_disk(folder)
    present = available_memory()
    need = f"{step}: about {_size(memory)} of memory"
    need += f" ({_size(present)} available)" if present is not None else ""
    need += f", {_size(disk)} of disk ({_size(free)} free)"
    logger.info("%s%s", need, f", {_time(seconds)}" if seconds is not None else "")
    if disk > free:
        raise BergamotError(
            Errors.B043, step=step, path=folder, needed=_size(disk), free=_size(free)
        )
    if present is not None and memory > present:
        logger.warning(
            "%s may run out of memory: close other programs, or use a larger machine", step
        )


def free_disk(folder: Path) -> int:
    """Return the free bytes of the disk that a folder is or will be on."""
    folder = Path(folder).absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping, or None where that is not known.

    Inside a container that is what its limit leaves.
    """
    found = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    except (OSError, ValueError):
        pass
    for limit, used in _CGROUP:
        try:
            found.append(max(0, int(limit.read_text()) - int(used.read_text())))
        except (OSError, ValueError):
            continue
    return min(found, default=None)


def cores() -> int:
    """Return the CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{max(1, count >> 20)} MiB"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} seconds"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} minutes"
    return f"about {seconds / 3600:.1f} hours"
