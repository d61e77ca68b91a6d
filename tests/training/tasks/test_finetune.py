import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support
from typer.testing import CliRunner

from training.__main__ import app
from training.errors import BergamotError
from training.tasks.finetune import FinetuneSettings, finetune
from training.tasks.records import Record, read_records
from training.tasks.scores import scores

PUBMEDQA = {
    "1": {"QUESTION": "Is it?", "CONTEXTS": ["One.", "Two."], "final_decision": "Maybe"},
    "2": {"QUESTION": "Was it?", "CONTEXTS": ["Three."]},
}
BIOASQ = {
    "questions": [
        {"type": "yesno", "body": "Is it?", "exact_answer": ["Yes"], "snippets": [{"text": "s"}]},
        {"type": "yesno", "body": "Was it?", "exact_answer": "no", "snippets": [{"text": "t"}]},
        {"type": "factoid", "body": "Who?", "exact_answer": "he", "snippets": [{"text": "u"}]},
    ]
}
MEDNLI = (
    '{"sentence1": "He has gout", "sentence2": "He is ill", "gold_label": "entailment"}\n'
    '{"sentence1": "x", "sentence2": "y", "gold_label": "-"}\nbroken\n'
)
SCITAIL = 'A premise\tA "hypothesis"\tentails\ntoo\tfew\n'


def test_every_format(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text(json.dumps(PUBMEDQA))
    assert read_records(path, "pubmedqa") == ([Record("Is it?", "One. Two.", "maybe")], 1)
    path.write_text(json.dumps(BIOASQ))
    assert read_records(path, "bioasq") == (
        [Record("Is it?", "s", "yes"), Record("Was it?", "t", "no")], 1,
    )  # fmt: skip
    path.write_text(MEDNLI)
    assert read_records(path, "mednli") == ([Record("He has gout", "He is ill", "entailment")], 2)
    path.write_text(SCITAIL)
    assert read_records(path, "scitail") == ([Record("A premise", 'A "hypothesis"', "entails")], 1)
    path.write_text(MEDNLI)
    assert len(read_records(path, "scitail")[0]) == 1


@pytest.mark.parametrize(
    ("content", "form", "code"),
    [(None, "bioasq", "B001"), ("{", "bioasq", "B002"), ("[]", "pubmedqa", "B002"),
     ('{"x": 1}', "bioasq", "B002"), ("x\n", "mednli", "B002"), ("{}", "squad", "B014"),
     ('{"1": 3}', "pubmedqa", "B002"), ("[" * 100_000, "bioasq", "x:1 is not readable as bioasq"),
     ('{"questions": [\n{"body": "\\ud800"}]}', "bioasq", "x:2 .*half of a surrogate")],
)  # fmt: skip
def test_bad_files(tmp_path: Path, content: str | None, form: str, code: str):
    if content is not None:
        (tmp_path / "x").write_text(content)
    with pytest.raises(BergamotError, match=code):
        read_records(tmp_path / "x", form)


def test_a_folder_is_no_file(tmp_path: Path):
    for form in ("mednli", "bioasq"):
        with pytest.raises(BergamotError, match="B108"):
            read_records(tmp_path, form)
    (tmp_path / "x").write_bytes(b"{}\n\n\xff")
    with pytest.raises(BergamotError, match=r"B049.*x:3 "):
        read_records(tmp_path / "x", "bioasq")


def test_scores_by_hand():
    result = scores(["yes", "yes", "yes", "no"], ["yes", "yes", "no", "maybe"])
    assert result["accuracy"] == 50
    assert result["f1"] == {"yes": pytest.approx(80), "no": 0}
    assert (result["macro_f1"], result["majority"]) == (pytest.approx(40), 75)
    # Three quarters of 100 % for yes, a quarter of 0 for no; maybe is nobody's label.
    assert (result["weighted_precision"], result["weighted_recall"]) == (75, 50)
    assert result["weighted_f1"] == pytest.approx(60)


def test_weighted_scores_are_scikit_learn_s():
    rng = np.random.default_rng(0)
    for _ in range(5):
        gold, guessed = (rng.choice(list("abcd"), 40, p=[0.5, 0.3, 0.15, 0.05]) for _ in range(2))
        guessed[guessed == "d"] = "e"  # never a label
        result = scores(gold.tolist(), guessed.tolist())
        expected = precision_recall_fscore_support(
            gold, guessed, average="weighted", zero_division=0
        )
        found = [result[f"weighted_{name}"] / 100 for name in ("precision", "recall", "f1")]
        assert found == pytest.approx(list(expected[:3]))


def pairs(count: int) -> list[Record]:
    names = [("fever", "yes"), ("heart attack", "no")]
    return [
        Record(f"is it {names[n % 2][0]}", f"text {n % 5}", names[n % 2][1]) for n in range(count)
    ]


def test_fine_tuning_learns_and_repeats(tmp_path: Path, lm: Path):
    settings = FinetuneSettings(epochs=6, rate=5e-3, batch=8)
    result = finetune(lm, pairs(48), pairs(20), settings=settings, save=tmp_path / "model")
    assert result["accuracy"] == 100
    assert (tmp_path / "model/model.safetensors").is_file()
    short = FinetuneSettings(epochs=1, batch=8)
    runs = [finetune(lm, pairs(16), pairs(20), settings=short, seed=3) for _ in range(2)]
    assert runs[0] == runs[1]


def test_labels_must_be_known(lm: Path):
    settings = FinetuneSettings(epochs=1)
    with pytest.raises(BergamotError, match="T155"):
        finetune(lm, pairs(4)[::2], pairs(4), settings=settings)
    with pytest.raises(BergamotError, match="maybe"):
        finetune(lm, pairs(4), [Record("a", "b", "maybe")], settings=settings)


def test_the_command(tmp_path: Path, lm: Path):
    path = tmp_path / "s.tsv"
    path.write_text("".join(f"{r.first}\t{r.second}\t{r.label}\n" for r in pairs(12)))
    output = tmp_path / "f.json"
    arguments = ["finetune", "scitail", path, path, lm, output, "--epochs", 1, "--seeds", 2]
    result = CliRunner().invoke(app, ["tasks", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    report = json.loads(output.read_text())
    assert (report["train"], report["test"], len(report["runs"])) == (12, 12, 2)
    mean = sum(run["accuracy"] for run in report["runs"]) / 2
    assert report["accuracy"] == pytest.approx(mean)
