"""Commands as `python -m MODULE ARGUMENTS` runs them, in processes that need not import first.

Each is a fork of a server that has imported torch and spaCy, which takes seconds of every new
interpreter. A fork is a process like any other, to be waited for or ended by a signal.
"""

import contextlib
import multiprocessing
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
File = int | str | Path
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.preloaded"])


class Command:
    """A command at work, at the head of a process group of its own.

    arguments: The module and its arguments.
    environment: Variables; without it those of this process.
    files: What it reads, prints and complains to: numbers of open files, or places.
    folder: Where it works.
    """

    def __init__(
        self,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        files: Sequence[File] = (os.devnull, os.devnull, os.devnull),
        folder: Path = ROOT,
    ) -> None:
        receiver, sender = _SERVER.Pipe(duplex=False)
        words, opened = [str(argument) for argument in arguments], [_opened(f) for f in files]
        settings = words, dict(environment or os.environ), opened, folder, sender
        self._process = _SERVER.Process(target=_run, args=settings)
        self._process.start()
        for one in (*opened, sender):
            one.close()
        with contextlib.suppress(EOFError):  # it leads its group, or has ended
            receiver.recv()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Return its status, minus the signal that ended it; None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Return its status when it has ended."""
        self._process.join(seconds)
        status = self.poll()
        if status is None:
            raise subprocess.TimeoutExpired(str(self.pid), seconds or 0)
        return status

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def kill_group(self) -> int:
        """Kill it and the processes that it has started; return its status."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self.wait(60)


class Popen(Command):
    """What the workers of `annotate` use of `subprocess.Popen`."""

    def __init__(
        self, command: list[str], *, stdin: int, stdout: int, stderr: Any, env: Mapping[str, str]
    ) -> None:
        assert (command[:2], stdin, stdout) == ([sys.executable, "-m"], -1, -1)
        (read, to), (back, write) = os.pipe(), os.pipe()
        super().__init__(*command[2:], environment=env, files=(read, write, stderr.fileno()))
        os.close(read)
        os.close(write)
        self.stdin, self.stdout = os.fdopen(to, "wb"), os.fdopen(back, "rb")


def run(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. settings: As of `Command`, but what it prints is returned."""
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        files = (os.devnull, output, errors)
        status = Command(*arguments, files=files, **settings).wait(300)
        return subprocess.CompletedProcess(
            arguments, status, output.read_text("utf8"), errors.read_text("utf8")
        )


def instead_of_subprocess(
    command: list[str], *, env: Mapping[str, str] | None = None, stdout: Any = None, **_: object
) -> subprocess.CompletedProcess[str]:
    """Run what `subprocess.run` would: a list that begins with this interpreter and -m."""
    assert command[:2] == [sys.executable, "-m"]
    done = run(*command[2:], environment=env, folder=Path.cwd())
    if stdout is not None and stdout != subprocess.PIPE:
        stdout.write(done.stdout + done.stderr)
    return done


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _opened(file: File) -> Connection:
    """Return an open file as multiprocessing hands it on."""
    if isinstance(file, int):
        return Connection(os.dup(file))
    return Connection(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def _run(
    words: list[str],
    environment: dict[str, str],
    files: list[Connection],
    folder: Path,
    begun: Connection,
) -> None:
    os.setpgid(0, 0)
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
        file.close()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    begun.send(None)
    begun.close()
    import torch

    torch.set_num_threads(int(environment.get("OMP_NUM_THREADS", 1)))  # read at the import
    # As an interpreter of its own has it: this fork's is that of the server that it came from.
    multiprocessing.set_start_method(multiprocessing.get_all_start_methods()[0], force=True)
    sys.stdin = open(0, encoding="utf8")  # noqa: SIM115  # multiprocessing has closed it
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
