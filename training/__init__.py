"""Makes language models of knowledge bases, and measures them."""

import os

# Polars' memory, which it arranges when it is loaded: in huge pages, and freed memory is kept for
# what comes next. Giving it back and taking it anew costs a third of preprocessing's CPU time.
os.environ.setdefault("_RJEM_MALLOC_CONF", "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1")
