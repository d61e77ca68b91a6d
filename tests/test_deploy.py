"""The files of deploy/: what they promise, and that the commands in them run."""

import json
import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot

ROOT = Path(__file__).parents[1]
PIPELINE = ROOT / "tests/data/pipeline"
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf8")
UNIT = ROOT / "deploy/bergamot.service"
JOB = yaml.safe_load((ROOT / "deploy/annotate-job.yaml").read_text(encoding="utf8"))
BERGAMOT = ["-m", "spacy", "bergamot"]


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions and what they say."""
    lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(" ", 1)) for line in joined.splitlines()]


def service() -> dict[str, str]:
    """Return the [Service] of the unit; of a key that is given twice, the last."""
    found = ConfigParser(strict=False, interpolation=None)
    found.optionxform = str
    found.read_string(UNIT.read_text(encoding="utf8"))
    return dict(found["Service"])


def contained(name: str) -> list[str]:
    """Return a list that the Dockerfile gives in JSON."""
    return json.loads(dict(instructions())[name])


def served() -> list[list[str]]:
    """Return the commands that start the service."""
    assert contained("ENTRYPOINT") == ["python", *BERGAMOT]
    program, *started = shlex.split(service()["ExecStart"])
    assert program.endswith("/venv/bin/python")
    assert started[:3] == BERGAMOT
    return [contained("CMD"), started[3:]]


def test_the_container_is_small_and_nobodys():
    said = instructions()
    bases = [what for name, what in said if name == "FROM"]
    assert len(bases) == 2
    assert all(":" in base and ":latest" not in base for base in bases)
    names = [name for name, _ in said]
    last = said[names.index("FROM", 1) :]
    user = next(what for name, what in last if name == "USER")
    assert int(user.partition(":")[0]) > 0
    assert not any(name in ("RUN", "ADD") for name, _ in last)
    assert any(name == "ENV" and "HF_HUB_OFFLINE=1" in what for name, what in last)
    assert {"HEALTHCHECK", "ENTRYPOINT", "CMD"} <= {name for name, _ in last}
    sources = [what.split()[:-1] for name, what in said if name == "COPY"]
    ignored = (ROOT / "deploy/Dockerfile.dockerignore").read_text(encoding="utf8").splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    copied = {path for paths in sources for path in paths if "--from" not in paths[0]}
    assert copied == allowed
    assert all((ROOT / path).exists() for path in copied)


def test_the_unit_is_closed():
    said = service()
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "ProtectHome", "PrivateDevices"):
        assert said[name] == "yes"
    assert said["ProtectSystem"] == "strict"
    assert (said["IPAddressDeny"], said["CapabilityBoundingSet"]) == ("any", "")
    assert int(said["TimeoutStopSec"]) > 30


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_understands_the_unit(tmp_path: Path):
    text = UNIT.read_text(encoding="utf8")
    unit = tmp_path / "bergamot.service"
    unit.write_text(text.replace("/opt/bergamot/venv/bin/python", "/bin/true"), encoding="utf8")
    command = ["systemd-analyze", "verify", "--recursive-errors=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    complaints = [line for line in done.stderr.splitlines() if "bergamot.service" in line]
    assert complaints == []


@pytest.mark.parametrize("command", served(), ids=["container", "unit"])
def test_the_service_of_the_files_starts_with_keys(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from spacy_bergamot.serve import server

    started: list[Any] = []
    monkeypatch.setattr(server, "serve", lambda app, listening: started.append(app))
    keys = tmp_path / "keys"
    replaced = [str(keys) if one.endswith("/keys") else one for one in command]
    replaced = [str(PIPELINE) if one.endswith("/pipeline") else one for one in replaced]
    replaced[replaced.index("--port") + 1] = "0"
    missing = CliRunner().invoke(bergamot, replaced)
    assert "B161" in missing.output
    keys.write_text("secret\n", encoding="utf8")
    result = CliRunner().invoke(bergamot, replaced)
    assert result.exit_code == 0, result.output
    (app,) = started
    assert app.keys == [b"secret"]


def test_the_parts_of_the_job_annotate_the_corpus(tmp_path: Path):
    spec = JOB["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert (spec["completionMode"], pod["restartPolicy"]) == ("Indexed", "Never")
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.txt").write_text("Fieber und insulin.", encoding="utf8")
    places = {
        "/pipeline": str(PIPELINE),
        "/data/notes": str(notes),
        "/data/annotated": str(tmp_path / "annotated"),
    }
    assert all(place.startswith(tuple(mounted)) for place in places)
    parts = range(spec["completions"])
    outputs = [shown(container["args"], places, index) for index in parts]
    assert sum("1 of 1 files" in output for output in outputs) == 1
    assert (tmp_path / "annotated/_bergamot/summary.json").is_file()


def shown(args: list[str], places: dict[str, str], index: int) -> str:
    """Return what one part of the job says."""
    command = [places.get(one, one.replace("$(JOB_COMPLETION_INDEX)", str(index))) for one in args]
    command[command.index("--workers") + 1] = "1"
    result = CliRunner().invoke(bergamot, command)
    assert result.exit_code == 0, result.output
    return result.output
