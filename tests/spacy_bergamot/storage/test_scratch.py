"""What killed processes leave behind is removed by the next one, and nothing that is in use."""

import signal
import subprocess
import sys
from pathlib import Path

from spacy_bergamot.storage.scratch import Scratch


def test_folders_of_killed_processes_are_removed_and_those_in_use_stay(tmp_path: Path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from spacy_bergamot.storage.scratch import Scratch\n"
        "s = Scratch(Path(sys.argv[1])); (s.path / 'f').write_text('x'); print(s.path, flush=1)\n"
        "time.sleep(100)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with Scratch(tmp_path) as mine, Scratch(tmp_path) as other:
            assert {left, mine, other} == set(tmp_path.iterdir())
        process.send_signal(signal.SIGKILL)
    assert [left] == list(tmp_path.iterdir())
    foreign = tmp_path / "spacy_bergamot.mine"
    foreign.mkdir()
    with Scratch(tmp_path) as mine:
        assert {mine, foreign} == set(tmp_path.iterdir())
    assert [foreign] == list(tmp_path.iterdir())
