"""A forked process is noticed once, and torch and tokenizers use one thread in it."""

import os
import subprocess
import sys
from pathlib import Path

from spacy_bergamot.forks import ForkWatch

ROOT = Path(__file__).parents[2]
FORK = """
import os, torch
from spacy_bergamot.forks import ForkWatch
torch.set_num_threads(2)
watch = ForkWatch()
child = os.fork()
if not child:
    seen = [watch.forked(), watch.forked(), torch.get_num_threads()]
    os._exit(0 if seen == [True, False, 1] else 1)
assert os.waitpid(child, 0)[1] == 0
assert (watch.forked(), torch.get_num_threads()) == (False, 2)
"""

TOKENIZE = """
import os
from tokenizers import Tokenizer, models
from spacy_bergamot.forks import ForkWatch
tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
watch, texts = ForkWatch(), ["a"] * 1000
tokenizer.encode_batch_fast(texts)
child = os.fork()
if not child:
    watch.forked()
    os._exit(0 if len(tokenizer.encode_batch_fast(texts)) == 1000 else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_is_noticed_once_and_lets_torch_use_one_thread():
    subprocess.run([sys.executable, "-c", FORK], check=True, cwd=ROOT, timeout=120)


def test_a_process_that_was_not_forked_is_left_alone():
    watch = ForkWatch()
    assert [watch.forked(), watch.forked()] == [False, False]


def test_tokenizers_do_not_hang_in_a_fork_though_told_to_use_threads():
    environ = {**os.environ, "TOKENIZERS_PARALLELISM": "true", "RAYON_NUM_THREADS": "2"}
    command = [sys.executable, "-c", TOKENIZE]
    subprocess.run(command, check=True, cwd=ROOT, timeout=60, env=environ)
