"""What is remembered of mentions, under threads."""

import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.recent import Recent
from spacy_bergamot.linking.settings import LinkerSettings


@pytest.fixture
def hasty() -> Iterator[None]:
    """Let threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_what_was_used_last_is_kept():
    recent: Recent[str, int] = Recent(2)
    recent.keep({"a": 1, "b": 2})
    recent.keep(recent.known(["a"]))
    recent.keep({"c": 3})
    assert recent.known("abc") == {"a": 1, "c": 3}
    assert recent.copy().known("abc") == {"a": 1, "c": 3}
    assert len(recent) == 2


class Slow(OrderedDict):
    """Lets other threads go first, where two steps must be one."""

    def move_to_end(self, *args: object, **kwargs: object) -> None:
        time.sleep(1e-4)
        super().move_to_end(*args, **kwargs)

    def popitem(self, *args: object, **kwargs: object) -> tuple:
        time.sleep(1e-4)
        return super().popitem(*args, **kwargs)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_threads_share_it(most: int, hasty: None):
    recent: Recent[int, int] = Recent(most)
    recent._kept = Slow()

    def work(start: int) -> bool:
        for turn in range(100):
            found = recent.known(range(start, start + 3))
            if any(key != value for key, value in found.items()):
                return False
            recent.keep({start + turn % 5: start + turn % 5, turn: turn})
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert len(recent) == most


def test_a_linker_links_in_threads_and_remembers_nothing(make_nlp, hasty: None):
    exact = {"@misc": "spacy_bergamot.ExactGenerator.v1"}
    nlp = make_nlp(mentions=False, cache_size=0, generator=exact)
    linker = nlp.get_pipe("bergamot_linker")

    def work(number: int) -> str:
        doc = nlp.make_doc("Hypertension")
        doc.set_ents([doc.char_span(0, 12, label="X")])
        return linker(doc).ents[0].kb_id_

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(2000))) == {"C01"}
    assert not len(linker._remembered)


@pytest.mark.parametrize("setting", ["cache_size", "max_entities_per_mention"])
def test_a_number_below_zero_is_refused(setting: str):
    with pytest.raises(BergamotError, match=rf"B037.*{setting} is -1"):
        LinkerSettings(**{setting: -1})
