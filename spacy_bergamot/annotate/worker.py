"""A worker of `annotate`: batches of rows come by stdin and go by stdout, as Arrow streams.

`python -m spacy_bergamot.annotate.worker SETTINGS`, the arguments of `AnnotateBatches` as JSON.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

READY = b"ready\n"
"""What is written before the stream, once the pipeline is loaded."""


def main() -> None:
    """Annotate what comes until nothing does, or nobody is there to take it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a component prints is no answer
    with suppress(OSError):  # where memory ends, Linux shall end a worker, not the job
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    import torch

    from spacy_bergamot.annotate.batches import AnnotateBatches

    torch.set_num_threads(1)
    annotate = AnnotateBatches(**json.loads(sys.argv[1]))
    annotate.load()
    answers.write(READY)
    answers.flush()
    with suppress(BrokenPipeError, pa.ArrowInvalid):  # the job has ended
        reader = pa.ipc.open_stream(sys.stdin.buffer)
        with pa.ipc.new_stream(answers, annotate.schema(reader.schema)) as writer:
            for batch in reader:
                writer.write_batch(annotate(batch))
                answers.flush()


if __name__ == "__main__":
    main()
