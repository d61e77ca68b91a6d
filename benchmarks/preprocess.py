"""How preprocessing grows.

    python -m benchmarks.preprocess [--names 1000000 2000000 4000000] [--quick]

For each size: RRF files of invented names, then `python -m training preprocess` in a process of its
own. The last line is JSON of the largest size: peak_mib, cpu_s, seconds, names; and `sizes`, the
same of every size.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.synthetic_umls import generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, nargs="+", default=[1_000_000, 2_000_000, 4_000_000])
    parser.add_argument("--quick", action="store_true", help="200,000 and 400,000 names")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder else")
    arguments = parser.parse_args()
    sizes = [200_000, 400_000] if arguments.quick else sorted(arguments.names)
    print(f"{'names':>10}{'seconds':>9}{'CPU s':>8}{'peak MiB':>10}")
    results = []
    for names in sizes:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            results.append(measure(names, Path(folder)))
        row = results[-1]
        print(
            f"{names:>10}{row['seconds']:>9.1f}{row['cpu_s']:>8.1f}{row['peak_mib']:>10}",
            flush=True,
        )
    plot(results)
    print(json.dumps({**results[-1], "sizes": results}))


def measure(names: int, folder: Path) -> dict[str, Any]:
    generate(names, folder / "META")
    command = [sys.executable, "-m", "training", "preprocess", str(folder / "META")]
    seconds, cpu, peak = run([*command, str(folder / "corpus")])
    return {
        "names": names,
        "seconds": round(seconds, 1),
        "cpu_s": round(cpu, 1),
        "peak_mib": round(peak),
    }


def run(command: list[str]) -> tuple[float, float, float]:
    """Return seconds, CPU-seconds and peak resident MiB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with status {status}")
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit


def plot(results: list[dict[str, Any]]) -> None:
    """Draw memory and CPU-seconds by names as bars of text."""
    for figure, title in (("peak_mib", "peak MiB"), ("cpu_s", "CPU-seconds")):
        most = max(row[figure] for row in results)
        print(f"\n{title}")
        for row in results:
            print(f"{row['names']:>10} {'█' * round(50 * row[figure] / most)} {row[figure]}")


if __name__ == "__main__":
    main()
