"""How long a packaged linker takes to load, and what it and its workers keep in memory.

    python -m benchmarks.load [--names 1000000] [--engine nmslib] [--workers 8] [--folder DIR]

A knowledge base of invented names is preprocessed, embedded with an untrained one-layer encoder
384 wide, and assembled (`--folder` keeps it for another call). Then a process of its own loads the
pipeline, after spaCy, torch and transformers are imported, and links with n_process workers. The
last line is JSON: load_s, and warm_load_s of a second time, from the page cache; added_mib (private
and shared memory of the process after loading less before) and ratio, by the size of the vectors
in the engine's precision; and workers_pss_mib, the proportional set size that a worker adds.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.synthetic_umls import generate

PYTHON = [sys.executable, "-m"]
WIDTH = 384
BYTES = {"nmslib": 4, "exact": 4, "usearch": 2}
LOAD = """
import json, sys, time
from pathlib import Path
import psutil, spacy, torch, transformers
from spacy_bergamot.pipeline.linker import BergamotLinker

def pss(process):
    return process.memory_full_info().pss / 2**20

spacy.blank("xx")  # imports the plug-ins of every package that is installed
me = psutil.Process()
before, start = pss(me), time.perf_counter()
nlp = spacy.load(sys.argv[1])
seconds = time.perf_counter() - start
start = time.perf_counter()
spacy.load(sys.argv[1])
warm = time.perf_counter() - start
doc = nlp.make_doc("zeal " * 4)
nlp.get_pipe("bergamot_linker").kb
texts = [line for line in Path(sys.argv[3]).read_text("utf8").split("\\n")[:2000]]
next(nlp.pipe(texts[:1]))
added = pss(me) - before
workers, most = int(sys.argv[2]), []
for number, _ in enumerate(nlp.pipe(texts, n_process=workers, batch_size=20)):
    if number == len(texts) // 2:
        most = [pss(child) for child in me.children(recursive=True)]
        parent = pss(me)
whole = sum(most) + parent
print(json.dumps({
    "load_s": round(seconds, 2), "warm_load_s": round(warm, 2), "added_mib": round(added),
    "workers": len(most), "workers_pss_mib": round((whole - added - before) / max(1, len(most))),
    "whole_pss_mib": round(whole),
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--engine", default="nmslib", choices=sorted(BYTES))
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="20,000 names, two workers")
    arguments = parser.parse_args()
    names, workers = (20_000, 2) if arguments.quick else (arguments.names, arguments.workers)
    with tempfile.TemporaryDirectory() as temporary:
        root = (arguments.folder or Path(temporary)) / str(names)
        pipeline = assemble(root, names, arguments.engine)
        command = [sys.executable, "-c", LOAD, str(pipeline), str(workers), str(root / "texts.txt")]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        figures = json.loads(output.splitlines()[-1])
        manifest = json.loads((pipeline / "bergamot_linker/index/manifest.json").read_text())
    vectors = manifest["strings"] * WIDTH * BYTES[arguments.engine] / 2**20
    figures |= {"engine": arguments.engine, "names": manifest["strings"]}
    figures |= {"vectors_mib": round(vectors), "ratio": round(figures["added_mib"] / vectors, 2)}
    for name, value in figures.items():
        print(f"{name:16} {value}")
    print(json.dumps(figures))


def assemble(root: Path, names: int, engine: str) -> Path:
    """Return the folder of a pipeline of so many names, made unless it is there."""
    pipeline = root / engine
    if pipeline.exists():
        return pipeline
    if not (root / "corpus").exists():
        generate(names, root / "META", seed=0)
        preprocess = ["training", "preprocess", root / "META", root / "corpus", "--held-out", "0"]
        subprocess.run([*PYTHON, *map(str, preprocess)], check=True)
        with (root / "META/MRCONSO.RRF").open(encoding="utf8") as lines:
            some = [line.split("|")[14] for _, line in zip(range(20_000), lines, strict=False)]
        (root / "texts.txt").write_text("\n".join(some), encoding="utf8")
    config = Path("configs/train/tiny.cfg")
    shape = {"layers": 1, "hidden": WIDTH, "heads": 6, "intermediate": 384}
    train = ["training", "train", config, "--paths.training_set", root / "corpus/train"]
    train += ["--paths.output", root / "run", "--training.max_steps", 1]
    for key, value in shape.items():
        train += [f"--text_encoder.{key}", value]
    subprocess.run([*PYTHON, *map(str, train)], check=True)
    build = ["spacy", "assemble", "configs/linker.cfg", pipeline, "--paths.encoder"]
    build += [root / "run/lm", "--paths.concepts", root / "corpus/kb"]
    build += ["--paths.alias_vectors", root / "vectors"]
    build += ["--initialize.components.bergamot_linker.index.engine", engine]
    subprocess.run([*PYTHON, *map(str, build)], check=True)
    return pipeline


if __name__ == "__main__":
    main()
