"""How many requests per second the service answers, how soon, and what it keeps in memory.

    python -m benchmarks.serve PIPELINE [--clients 8] [--seconds 30] [--warm-up 5]

The service runs as a process of its own on this machine; each client links one short note after
another, in ten languages, with a word in every note that was never there before. The last line is
JSON: requests, per_s, p50_ms, p95_ms and their ratio (wanted: at most 3), errors, mib_before and
mib_after (resident memory of the service, after the first seconds and at the end).
"""

import argparse
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from statistics import quantiles

import psutil

NOTES = [
    "72-year-old woman with type 2 diabetes and hypertenson, no seizures. Code {}.",
    "Mujer con HTA y fibrilación auricular, sin convulsiones. Código {}.",
    "Patiente avec une insuffisance cardiaque et une fièvre. Code {}.",
    "Patient mit Bluthochdruck und Verdacht auf Lungenentzündung. Nummer {}.",
    "Donna con ipertensione e sclerosi multipla, febbre. Codice {}.",
    "Mulher com hipertensão e insuficiência renal crônica. Código {}.",
    "Vrouw met hypertensie, opgenomen met koorts. Nummer {}.",
    "Пациентка с гипертонией и сахарным диабетом 2 типа. Номер {}.",
    "患者は高血圧と糖尿病がある。番号{}。",
    "患者有高血压和糖尿病。编号{}。",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--warm-up", type=float, default=5, help="Seconds that are not counted")
    arguments = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "spacy", "bergamot", "serve", arguments.pipeline]
    service = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        while not is_ready(url):
            if service.poll() is not None:
                sys.exit(f"The service ended with status {service.returncode}")
            time.sleep(0.2)
        numbers, memory = count(), psutil.Process(service.pid).memory_info
        load(url, arguments.clients, arguments.warm_up, numbers)
        before = memory().rss
        started = time.perf_counter()
        seconds, errors = load(url, arguments.clients, arguments.seconds, numbers)
        wall, after = time.perf_counter() - started, memory().rss
    finally:
        service.terminate()
        service.wait(60)
    cuts = quantiles(seconds, n=100)
    figures = {
        "clients": arguments.clients,
        "requests": len(seconds),
        "per_s": round(len(seconds) / wall, 1),
        "p50_ms": round(1000 * cuts[49], 1),
        "p95_ms": round(1000 * cuts[94], 1),
        "ratio": round(cuts[94] / cuts[49], 2),
        "errors": errors,
        "mib_before": round(before / 2**20),
        "mib_after": round(after / 2**20),
    }
    for name, value in figures.items():
        print(f"{name:12} {value}")
    print(json.dumps(figures))


def load(url: str, clients: int, seconds: float, numbers: count) -> tuple[list[float], int]:
    """Return how long every request took, and how many failed."""
    end = time.perf_counter() + seconds

    def client(_: int) -> tuple[list[float], int]:
        took, errors = [], 0
        while time.perf_counter() < end:
            number = next(numbers)
            text = NOTES[number % len(NOTES)].format(f"q{number:x}z")
            started = time.perf_counter()
            errors += not linked(url, text)
            took.append(time.perf_counter() - started)
        return took, errors

    with ThreadPoolExecutor(clients) as pool:
        results = list(pool.map(client, range(clients)))
    return [one for took, _ in results for one in took], sum(errors for _, errors in results)


def linked(url: str, text: str) -> bool:
    """Link a text, and say whether it came back."""
    body = json.dumps({"text": text}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{url}/v1/link", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["documents"][0]["text"] == text
    except (OSError, ValueError):
        return False


def is_ready(url: str) -> bool:
    """Say whether the service has linked its first text."""
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=60):
            return True
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    main()
