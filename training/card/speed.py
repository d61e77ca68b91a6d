"""How long a pipeline takes for one new mention."""

import platform
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spacy_bergamot.cli.gold import as_mention
from spacy_bergamot.text import normalize

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_bergamot.index.alias_index import AliasIndex
    from spacy_bergamot.pipeline.linker import BergamotLinker

MENTIONS = 200
LEAST = 20
_WARM_UP = 10
_SEED = 0
_CPU = Path("/proc/cpuinfo")


def speed_facts(nlp: "Language", linker: "BergamotLinker") -> dict[str, Any]:
    """Link mentions one by one on one core, and return p50 and p95 in milliseconds.

    On the CPU that is the processor's time, which other work on the machine hardly changes; with
    a GPU it is the time that passes.

    The mentions are names of the knowledge base with two letters exchanged, so that no name is
    theirs and the language model is needed; names as they are are timed too. An empty dict if
    the knowledge base has too few names.
    """
    index = linker.parts.index
    pairs = list(islice(misspelt(index), MENTIONS + _WARM_UP))
    if len(pairs) < LEAST + _WARM_UP:
        return {}
    device = linker.parts.encoder.device
    clock = time.process_time if device == "cpu" else time.perf_counter
    with one_core():
        new = [_timed(nlp, linker, text, clock) for text, _ in pairs][_WARM_UP:]
        known = [_timed(nlp, linker, name, clock) for _, name in pairs][_WARM_UP:]
    return {
        "mentions": len(new),
        "new_ms_p50": round(float(np.percentile(new, 50)), 3),
        "new_ms_p95": round(float(np.percentile(new, 95)), 3),
        "known_ms_p50": round(float(np.percentile(known, 50)), 3),
        "known_ms_p95": round(float(np.percentile(known, 95)), 3),
        "device": device,
        "processor": processor(),
    }


def processor() -> str:
    """Return the name of this machine's processor, or of its kind."""
    try:
        lines = _CPU.read_text(encoding="utf8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.machine()


def misspelt(index: "AliasIndex") -> Iterator[tuple[str, str]]:
    """Yield names with two neighbouring letters exchanged that are no names, and the names."""
    rows = list(range(len(index)))
    random.Random(_SEED).shuffle(rows)
    for row in rows:
        name = index.strings[row].as_py()
        text = _exchanged(name)
        if text and index.lookup([normalize(text)])[0] < 0:
            yield text, name


def _exchanged(name: str) -> str:
    """Return a name with two letters near its middle exchanged; empty if it has no such two."""
    places = range(len(name) - 1)
    for place in sorted(places, key=lambda place: abs(2 * place + 1 - len(name))):
        one, other = name[place], name[place + 1]
        if one != other and one.isalpha() and other.isalpha():
            return name[:place] + other + one + name[place + 2 :]
    return ""


def _timed(
    nlp: "Language", linker: "BergamotLinker", mention: str, clock: Callable[[], float]
) -> float:
    """Return the milliseconds that a document of one mention takes."""
    doc = as_mention(nlp, mention, linker.settings.spans_key)
    start = clock()
    linker(doc)
    return 1000 * (clock() - start)


@contextmanager
def one_core() -> Iterator[None]:
    """Let torch use one thread."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
