"""What an upgrade to the next release takes, beside a pipeline that is built anew of it.

    python -m benchmarks.upgrade META --lm LM --engine usearch --of 40

The next release is made of META: of its rows 6 % have another name, 2 % are gone, 2 % are of new
concepts; a hundredth of the concepts is gone, another merged. Seconds are those of the processor,
of all threads. `--of 40` takes every fortieth concept of META.
"""

import argparse
import json
import random
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy

from spacy_bergamot.kb_import.build import table_of
from spacy_bergamot.pipeline.build import build_pipeline
from spacy_bergamot.text import normalize
from training.upgrade.run import upgrade

TABLES = ("MRCONSO", "MRSTY", "MRDEF")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("meta", type=Path)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--engine", default="nmslib")
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--mentions", type=int, default=5000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write_part(options.meta, path / "AA", options.of)
        write_next(path / "AA", path / "AB")

        def build(release: str, pipeline: str) -> None:
            table_of([path / release], path / f"kb{release}")
            made = build_pipeline(
                lm=options.lm, concepts=path / f"kb{release}", engine=options.engine
            )
            made.to_disk(path / pipeline)

        build("AA", "old")
        report, spent = timed(lambda: upgrade(path / "old", path / "AB", path / "new"))
        _, anew = timed(lambda: build("AB", "anew"))
        same = compared(path / "new", path / "anew", options.mentions)
    names = report["names"]
    figures = {**names, "upgrade_s": spent, "anew_s": anew, "share": round(spent / anew, 3), **same}
    print(f"{names['names']:,} names, {names['encoded']:,} of them new")
    print(f"upgrade {spent} s of CPU, anew {anew} s: {figures['share']:.0%}")
    print(", ".join(f"{name} {value}" for name, value in same.items()))
    print(json.dumps(figures))


def write_part(meta: Path, output: Path, of: int) -> None:
    """Write the names, types and definitions of every n-th concept."""
    output.mkdir()
    for table in TABLES:
        with (meta / f"{table}.RRF").open(encoding="utf8", newline="\n") as lines:
            kept = [line for line in lines if zlib.crc32(line.partition("|")[0].encode()) % of == 0]
        (output / f"{table}.RRF").write_text("".join(kept), "utf8")


def write_next(meta: Path, output: Path) -> None:
    """Write the next release, with MRCUI."""
    rng = random.Random(0)
    output.mkdir()
    rows = [line.split("|") for line in (meta / "MRCONSO.RRF").read_text("utf8").split("\n")[:-1]]
    cuis = sorted({row[0] for row in rows})
    drawn = rng.sample(cuis, len(cuis) // 50)
    gone, left = set(drawn[::2]), sorted(set(cuis) - set(drawn))
    merged = {cui: rng.choice(left) for cui in drawn[1::2]}
    kept, fresh = [], {}
    for number, row in enumerate(rows):
        cui, chance = row[0], rng.random()
        if cui in gone or 0.06 <= chance < 0.08:
            continue
        row[0] = merged.get(cui, cui)
        if chance < 0.06:
            row[14] += f" of kind {number}"
        elif chance < 0.1:
            row[0] = fresh.setdefault(cui, f"C9{number:06}")
            row[14] = f"new {row[14]}"
        kept.append("|".join(row) + "\n")
    types = (meta / "MRSTY.RRF").read_text("utf8").splitlines(keepends=True)
    copies = [line.replace(c, fresh[c]) for line in types if (c := line.partition("|")[0]) in fresh]
    mrcui = [f"{cui}|AB|SY|||{into}|Y|\n" for cui, into in sorted(merged.items())]
    mrcui += [f"{cui}|AB|DEL||||\n" for cui in sorted(gone)]
    definitions = (meta / "MRDEF.RRF").read_text("utf8").splitlines(keepends=True)
    files = {"MRCONSO": kept, "MRSTY": types + copies, "MRDEF": definitions, "MRCUI": mrcui}
    for table, lines in files.items():
        (output / f"{table}.RRF").write_text("".join(lines), "utf8")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    made = work()
    return made, round(time.process_time() - start, 1)


def compared(one: Path, other: Path, count: int) -> dict[str, float]:
    """Return shares of misspelt names with the same candidates in both pipelines."""
    linkers = [spacy.load(path).get_pipe("bergamot_linker") for path in (one, other)]
    strings, rng = linkers[1].parts.index.strings, random.Random(0)
    mentions = []
    for _ in range(count):
        name = strings[rng.randrange(len(strings))].as_py()
        at = rng.randrange(max(1, len(name) - 1))  # its letter and the next change places
        swapped = name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :]
        mentions.append((normalize(swapped), ""))
    first, second = (linker.generator.generate(mentions, k=10) for linker in linkers)
    ids = [[[c.concept_id for c in found] for found in of] for of in (first, second)]
    pairs = list(zip(*ids, strict=True))
    return {
        "same_first": sum(a[:1] == b[:1] for a, b in pairs) / count,
        "same_ten": sum(set(a) == set(b) for a, b in pairs) / count,
        "same_order": sum(a == b for a, b in pairs) / count,
    }


if __name__ == "__main__":
    main()
