"""The shape of the project: imports, registered names, what the project file names."""

import ast
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from confection import Config
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PACKAGE = sorted((ROOT / "spacy_bergamot").rglob("*.py"))
ROOMS = ["storage", "kb", "kb_import", "encoder", "index", "mentions", "finder", "linking"]
ROOMS += ["pipeline", "output", "annotate", "serve", "cli"]
KB_IMPORT = ROOT / "spacy_bergamot/kb_import"
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
ROOMS_TESTED_TOGETHER = ("annotate", "serve", "linking/llm", "kb_import/ontology")
TESTED_TOGETHER = [  # in tests/training/rerank, and with the rooms that they start
    "linking/features.py", "linking/learned_mix.py", "linking/profiles.py", "cli/rerank.py",
    "cli/annotate.py", "cli/serve.py", "cli/mcp.py", "cli/listening.py",
]  # fmt: skip
CODE = [*PACKAGE, *sorted((ROOT / "training").rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Return every imported module of a file, those inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.name)
def test_the_package_knows_nothing_of_training(path: Path):
    names = imported(path)
    tops = {name.partition(".")[0] for name in names}
    assert not tops & {"training", "torch_geometric", "sklearn", "rapidfuzz", "pickle"}
    reads = any(name.startswith("spacy_bergamot.kb_import") for name in names)
    if KB_IMPORT not in path.parents:  # what needs the extra `kb` has one door
        assert "polars" not in tops
        assert not reads or path == ROOT / "spacy_bergamot/cli/kb.py"


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.name)
def test_rooms_import_from_rooms_below_them(path: Path):
    inside = path.relative_to(ROOT / "spacy_bergamot").parts
    if len(inside) == 1:  # the ground floor; `__init__` is the door to all
        below = [] if path.stem != "__init__" else ROOMS
    else:
        below = ROOMS[: ROOMS.index(inside[0]) + 1]
    for name in imported(path):
        top, *rest = name.split(".")
        if top == "spacy_bergamot" and rest and rest[0] in ROOMS:
            assert rest[0] in below, f"{path} imports {name}"


def test_what_is_public_is_imported_when_it_is_used():
    code = (
        "import sys, spacy_bergamot\n"
        "assert not {'spacy', 'torch'} & set(sys.modules)\n"
        "for n in spacy_bergamot.__all__: assert getattr(spacy_bergamot, n).__name__ == n\n"
        "assert set(spacy_bergamot.__all__) <= set(dir(spacy_bergamot))\n"
        "assert not hasattr(spacy_bergamot, 'Nothing')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120)


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.name)
def test_nothing_is_pickled_or_evaluated(path: Path):
    tree = ast.parse(path.read_text(encoding="utf8"))
    calls = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"eval", "exec"}
    assert not imported(path) & {"pickle", "dill", "cloudpickle"}
    assert "torch.save" not in path.read_text(encoding="utf8")


@pytest.mark.parametrize("path", [*CODE, *BENCHMARKS], ids=lambda path: path.name)
def test_code_of_a_model_folder_is_never_trusted(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "from_pretrained":
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert given.get("trust_remote_code") == "False", f"{path}:{node.lineno}"


def test_data_is_read_without_what_evaluates_it():
    folders = ("training/corpora", "training/preprocess")
    data = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    for path in [*data, ROOT / "training/pairs.py"]:
        assert not any(name.startswith("training.evaluate") for name in imported(path)), path


def test_preprocessing_needs_no_torch():
    for path in [*(ROOT / "training/preprocess").glob("*.py"), *KB_IMPORT.rglob("*.py")]:
        assert not any(name.partition(".")[0] == "torch" for name in imported(path)), path


@pytest.mark.parametrize(
    "module",
    [
        "spacy_bergamot.encoder.text_encoder",
        "spacy_bergamot.kb.concept_table",
        "training.bergamot.run",
    ],
)
def test_training_machines_need_no_spacy(module: str):
    code = f"import sys; sys.modules['spacy'] = None; import {module}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120)


def test_importing_the_linker_imports_no_heavy_library():
    code = (
        "import sys, spacy_bergamot.encoder.text_encoder, spacy_bergamot.index.alias_index\n"
        "assert not {'torch', 'transformers', 'nmslib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120)


def test_every_entry_point_resolves():
    points = importlib.metadata.distribution("spacy_bergamot").entry_points
    assert {"bergamot_linker", "bergamot_mentions"} <= {point.name for point in points}
    for point in points:
        assert callable(point.load())


def test_every_dependency_of_the_project_is_made_or_tracked():
    project = yaml.safe_load((ROOT / "project.yml").read_text(encoding="utf8"))
    commands = {command["name"]: command for command in project["commands"]}
    made: set[str] = set()
    for command in commands.values():
        made |= {*command.get("outputs", []), *command.get("outputs_no_cache", [])}
    for command in commands.values():
        assert command["help"]
        for dep in command.get("deps", []):
            path = dep
            for name, value in project["vars"].items():
                path = path.replace(f"${{vars.{name}}}", str(value))
            fetched = any(asset["dest"].startswith(f"{path}/") for asset in project["assets"])
            assert fetched or dep in made or (ROOT / path).exists(), dep
    for name, steps in project["workflows"].items():
        assert set(steps) <= commands.keys()
        assert name not in commands  # spaCy refuses a name that is both


def test_the_small_pipeline_is_the_other_but_for_its_index():
    linker, small = (
        Config().from_disk(ROOT / f"configs/{name}.cfg", interpolate=False)
        for name in ("linker", "small_linker")
    )
    indexes = [
        config["initialize"]["components"]["bergamot_linker"]["index"] for config in (linker, small)
    ]
    assert [index.pop("engine") for index in indexes] == ["nmslib", "usearch"]
    assert indexes[1].pop("settings") == {"dtype": "i8", "m": 16}
    assert linker == small


SHOWN = (".command(", ".get(", ".post(")
"""Of decorators: the docstrings are texts that users of commands and of the service read."""


def public_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions of a module and of its public classes, those left out that users read.

    A method without a docstring has that of the class that its own is made from: ruff sees to it.
    """
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name[0] != "_"]
    found = [n for of in (tree, *classes) for n in of.body if isinstance(n, ast.FunctionDef)]
    named = (n for n in found if n.name[0] != "_" and ast.get_docstring(n))
    return [
        n for n in named
        if not n.name.endswith("_cli")
        and not any(sign in ast.unparse(d) for d in n.decorator_list for sign in SHOWN)
    ]  # fmt: skip


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.name)
def test_every_argument_is_documented(path: Path):
    for function in public_functions(ast.parse(path.read_text(encoding="utf8"))):
        text, of = ast.get_docstring(function), function.args
        names = {one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs)} - {"self", "cls"}
        missing = {name for name in names if not re.search(rf"\b{name}\b", text)}
        assert not missing or "see `" in text, f"{path}: {function.name} has {missing}"


def test_modules_stay_small():
    for path in [*CODE, *BENCHMARKS, *(ROOT / "tests").rglob("*.py")]:
        assert len(path.read_text(encoding="utf8").splitlines()) <= 300, path


def test_every_data_file_of_the_package_is_in_its_wheel(tmp_path: Path):
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(command, check=True, cwd=ROOT, timeout=120)
    files = {
        path.relative_to(ROOT)
        for path in (ROOT / "spacy_bergamot").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {path.suffix for path in files} >= {".py", ".tsv", ".html"}
    assert files == {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.name)
def test_every_module_has_a_test_file_of_its_own(path: Path):
    inside = path.relative_to(ROOT)
    room = inside.relative_to("spacy_bergamot")
    together = any(ROOT / "spacy_bergamot" / name in path.parents for name in ROOMS_TESTED_TOGETHER)
    if path.stem in ("__init__", "errors") or together or room.as_posix() in TESTED_TOGETHER:
        return
    assert (ROOT / "tests" / inside.with_name(f"test_{path.name}")).is_file(), path


def test_no_test_imports_from_a_test_file():
    for path in (ROOT / "tests").rglob("*.py"):
        for name in imported(path):
            tested = name.startswith("tests.") and name.rpartition(".")[2].startswith("test_")
            assert not tested, f"{path} imports {name}"


def promised() -> list[str]:
    """Return the versions of Python that setup.py allows."""
    text = (ROOT / "setup.py").read_text(encoding="utf8")
    allowed = SpecifierSet(re.search(r'python_requires="([^"]+)"', text)[1])
    return [version for version in (f"3.{minor}" for minor in range(7, 30)) if version in allowed]


def test_every_promised_version_of_python_has_one_pin_of_each_package():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    for version in promised():
        names = [
            pin.name for pin in pins
            if pin.marker is None or pin.marker.evaluate({"python_version": version})
        ]  # fmt: skip
        assert sorted(names) == sorted({pin.name for pin in pins}), version


def test_every_promised_version_of_python_is_tested():
    (path,) = (ROOT / ".github/workflows").glob("*.yml")
    job = yaml.safe_load(path.read_text(encoding="utf8"))["jobs"]["test"]
    assert job["strategy"]["matrix"]["python-version"] == promised()
