"""The command: any number of systems on any number of sets, and its results on disk."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from spacy.language import Language
from typer.testing import CliRunner

from spacy_bergamot.encoder.text_encoder import Piece, TextEncoder
from tests.spacy_bergamot.conftest import CONCEPTS
from training.__main__ import app
from training.corpora.queries import gold_mentions, read_queries, skipped
from training.corpora.schema import CONTEXT, DOCUMENTS, MENTIONS, Corpus
from training.errors import BergamotError
from training.evaluate.results import Results
from training.evaluate.systems import rank_with_pipeline

DICTIONARY = (
    "C01||hypertension\nC01||high blood pressure\nC03||myocardial infarction\nC03||heart attack\n"
    "C04||common cold\nC04|C05||cold\nC06||heart\n"
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three mentions: a name, a composite one, and a NIL."""
    rows = [
        {"mention": "Hypertension", "concepts": ["C01"], "type": "DISO", "all_of": False},
        {"mention": "cold", "concepts": ["C04", "C05"], "type": "DISO", "all_of": True},
        {"mention": "zzz", "concepts": [], "type": "CHEM", "all_of": False},
    ]
    text = f"Hypertension and a cold, no cold sores. {'Later. ' * 40}Then zzz."
    whole = [
        {"id": str(n), "document": "d", "language": "en", "starts": [start],
         "ends": [start + len(row["mention"])],
         "context": text[max(0, start - CONTEXT) : start + len(row["mention"]) + CONTEXT], **row}
        for n, row in enumerate(rows)
        for start in [text.index(row["mention"])]
    ]  # fmt: skip
    documents = pa.Table.from_pylist(
        [{"document": "d", "language": "en", "text": text}], schema=DOCUMENTS
    )
    mentions = pa.Table.from_pylist(whole, schema=MENTIONS)
    Corpus("invented", documents, mentions, {"wrong offsets": 2}).write(tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "dictionary.txt").write_text(DICTIONARY)
    (tmp_path / "queries.txt").write_text(
        "C03||Heart  attack\nC03||heart attacks\nC06||pump\nC99||heart\n"
    )
    (tmp_path / "train.txt").write_text("C03||infarct\n")
    return tmp_path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_systems_sets_and_protocols_in_one_command(
    inputs: Path, corpus: Path, lm: Path, concepts: Path
):
    output = inputs / "figures.json"
    printed = run(
        inputs / "dictionary.txt", inputs / "queries.txt", output, "--set", f"mine={corpus}",
        "--lm", f"small={lm}", "--exact-search", "--ensemble", "--protocol", "full",
        "--protocol", "filtered", "--protocol", "zero_shot", "--train", inputs / "train.txt",
        "--golds", "annotated", "--concepts", concepts,
    )  # fmt: skip
    report = json.loads(output.read_text())
    of_lm = {"small", "small (exact)", "small (ensemble)"}
    assert set(report["systems"]) == {"exact", "lexical", *of_lm}
    assert set(report["systems"]["exact"]) == {"queries", "mine", "macro", "micro"}
    assert report["mentions"] == 5
    assert report["skipped"] == {"wrong offsets": 2, "gold not in the dictionary": 1}
    exact, ensemble = (report["systems"][name] for name in ("exact", "small (ensemble)"))
    assert ensemble["micro"]["acc@1"] >= exact["micro"]["acc@1"] > 0
    assert exact["queries"]["acc@1"] == pytest.approx(100 / 3)
    # The composite mention needs both concepts, so it is right at 2 and not at 1.
    assert (exact["mine"]["acc@1"], exact["mine"]["acc@2"]) == (50, 100)
    found = [exact["mine"][f"acc@{k}_names"] for k in range(1, 5)]
    assert found == sorted(found)
    assert found[1:] == [100, 100, 100]
    assert exact["mine"]["acc@1_low"] <= 50 <= exact["mine"]["acc@1_high"]
    assert exact["mine"]["acc@1_tree"] == pytest.approx(100)
    assert report["further_protocols"]["filtered"]["mentions"] == 3  # two spaces are another string
    assert report["further_protocols"]["zero_shot"]["mentions"] == 3
    assert report["nil"]["exact"] == {
        "nil_gold": 1, "nil_predicted": 3, "nil_p": pytest.approx(100 / 3), "nil_r": 100,
    }  # fmt: skip
    assert report["index_loss"]["small"]["kept@1"] == 100
    pair = next(
        c for c in report["comparisons"]
        if (c["one"], c["other"], c["group"]) == ("exact", "lexical", "micro")
    )  # fmt: skip
    # 3-grams alone find "heart attacks"; exact match alone finds nothing more.
    assert (pair["wins"], pair["losses"], pair["mcnemar_p"]) == (0, 1, 1)
    assert "zero_shot set" in printed


def test_figures_come_again_from_the_results_on_disk(inputs: Path):
    output = inputs / "figures.json"
    run(inputs / "dictionary.txt", inputs / "queries.txt", output)
    results = Results.open(inputs / "figures")
    assert results.systems["exact"][0].concepts == ["C03"]
    assert results.systems["exact"][0].names == ["heart attack"]
    assert json.loads(json.dumps(results.figures())) == json.loads(output.read_text())
    (inputs / "figures/system-0.arrow").write_bytes(b"")
    with pytest.raises(BergamotError, match="B006"):
        Results.open(inputs / "figures")


def test_out_of_dictionary_golds_count_as_told(inputs: Path):
    for choice, mentions, nil in (("drop", 3, 0), ("miss", 4, 0), ("nil", 3, 1)):
        output = inputs / f"{choice}.json"
        run(inputs / "dictionary.txt", inputs / "queries.txt", output, "--out-of-kb", choice)
        report = json.loads(output.read_text())
        assert (report["mentions"], report["nil"]["exact"]["nil_gold"]) == (mentions, nil)
        assert report["out_of_kb"] == choice
        assert report["skipped"]["gold not in the dictionary"] == 1


def test_a_corpus_keeps_what_its_schema_says(corpus: Path):
    read = gold_mentions(read_queries(corpus, nil=True))
    assert [q.type for q in read] == ["DISO", "DISO", "CHEM"]
    assert [q.all_of for q in read] == [False, True, False]
    assert read[2].concepts == frozenset()
    assert read[0].language == "en"
    assert read[1].context.startswith("Hypertension and a <tgt>cold</tgt>, no cold sores.")
    assert read[2].context.endswith("Later. Then <tgt>zzz</tgt>.")
    assert skipped(read_queries(corpus)) == {"wrong offsets": 2, "NIL": 1}


@pytest.mark.parametrize("key", [None, "sc"])
def test_a_pipeline_is_a_system(
    make_nlp: Callable[..., Language], inputs: Path, tmp_path: Path, key: str | None
):
    config = {"spans_key": key, "k": 1, "resolve_abbreviations": True}
    make_nlp(mentions=False, **config).to_disk(tmp_path / "pipeline")
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({
            "language": "ENG", "text": "The high blood pressure (HBP) rose; HBP fell.",
            "entities": [{"start": 36, "end": 39, "text": "HBP", "concept_id": "C01"}],
        })
    )  # fmt: skip
    output = tmp_path / "figures.json"
    run(
        inputs / "dictionary.txt", tmp_path / "gold.jsonl", output, "--no-baselines",
        "--pipeline", f"pipe={tmp_path / 'pipeline'}", "--set", f"lines={inputs / 'queries.txt'}",
    )  # fmt: skip
    report = json.loads(output.read_text())
    # HBP is found through the long form that its context defines.
    assert report["systems"]["pipe"]["ENG"]["acc@1"] == 100
    assert report["systems"]["pipe"]["lines"]["acc@1"] >= 33
    noted = report["pipelines"]["pipe"]
    assert noted["own"] == 25  # "Heart  attack" of four mentions
    linker = make_nlp(mentions=False, **config).get_pipe("bergamot_linker")
    assert noted["lm"] == linker.parts.provenance["lm"]
    found = Results.open(tmp_path / "figures").systems["pipe"]
    assert max(len(entry.concepts) for entry in found) > 1  # more than the pipeline's own k


def test_a_language_model_ranks_a_dictionary_as_a_pipeline_ranks_its_own(
    make_nlp: Callable[..., Language], lm: Path, tmp_path: Path
):
    names = [(c, n) for c, (_, by) in CONCEPTS.items() for of in by.values() for n in of]
    (tmp_path / "dictionary.txt").write_text("".join(f"{c}||{n}\n" for c, n in names))
    queries = "".join(f"{c}||{n}{end}\n" for c, n in names for end in ("", "s", " crisis"))
    (tmp_path / "queries.txt").write_text(queries)
    dense = {"@misc": "spacy_bergamot.DenseGenerator.v1"}
    make_nlp(mentions=False, generator=dense, resolve_abbreviations=False).to_disk(tmp_path / "p")
    run(
        tmp_path / "dictionary.txt", tmp_path / "queries.txt", tmp_path / "figures.json",
        "--no-baselines", "--lm", f"lm={lm}", "--exact-search",
        "--pipeline", f"pipe={tmp_path / 'p'}",
    )  # fmt: skip
    systems = Results.open(tmp_path / "figures").systems
    for one, other in zip(systems["lm (exact)"], systems["pipe"], strict=True):
        assert dict(zip(one.concepts, one.scores, strict=True)) == pytest.approx(
            dict(zip(other.concepts, other.scores, strict=True)), abs=2e-6
        )


def test_names_of_a_pipeline_with_the_same_language_model_are_not_encoded_again(
    make_nlp: Callable[..., Language], inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make_nlp(mentions=False).to_disk(tmp_path / "p")
    lm = f"lm={tmp_path / 'p/bergamot_linker/encoder'}"
    given = (inputs / "dictionary.txt", inputs / "queries.txt")
    run(*given, tmp_path / "alone.json", "--no-baselines", "--lm", lm)
    encoded: list[str] = []
    kept = TextEncoder.encode_in_pieces

    def noted(self: TextEncoder, names: Sequence[str], **options: Any) -> Iterator[Piece]:
        encoded.extend(names)
        return kept(self, names, **options)

    monkeypatch.setattr(TextEncoder, "encode_in_pieces", noted)
    run(
        *given, tmp_path / "both.json", "--no-baselines", "--lm", lm,
        "--pipeline", f"p={tmp_path / 'p'}",
    )  # fmt: skip
    assert "heart attacks" in encoded  # a query
    assert "high blood pressure" not in encoded
    alone, both = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("alone", "both")
    )
    assert both["systems"]["lm"] == alone["systems"]["lm"]


def test_held_out_names_are_new_to_a_pipeline_too(
    make_nlp: Callable[..., Language], inputs: Path, tmp_path: Path
):
    pipeline = tmp_path / "pipeline"
    make_nlp(mentions=True).to_disk(pipeline)
    before = (pipeline / "config.cfg").read_bytes()
    arguments = (inputs / "dictionary.txt", inputs / "queries.txt")
    options = ("--no-baselines", "--pipeline", f"pipe={pipeline}")
    run(*arguments, tmp_path / "known.json", *options)
    printed = run(*arguments, tmp_path / "new.json", *options, "--held-out")
    known, new = (
        json.loads((tmp_path / f"{name}.json").read_text())["pipelines"]["pipe"]
        for name in ("known", "new")
    )
    assert (known["hidden"], new["hidden"]) == (0, 1)  # "Heart  attack" of C03
    assert known["own"] > new["own"] == 0
    assert known["index"] == new["index"]
    assert "hidden from pipe's own dictionary: 1." in printed
    assert "are aliases of" not in printed
    by_name = {
        name: dict(zip((q.mention for q in found.queries), found.systems["pipe"], strict=True))
        for name in ("known", "new")
        for found in [Results.open(tmp_path / name)]
    }
    assert by_name["known"]["Heart  attack"].scores[0] == 1
    assert "heart attack" not in by_name["new"]["Heart  attack"].names
    assert not (pipeline / "bergamot_linker/changes").exists()  # nothing was written there
    assert (pipeline / "config.cfg").read_bytes() == before


def test_names_are_hidden_from_pipelines_only(inputs: Path):
    with pytest.raises(BergamotError, match="T113"):
        run(inputs / "dictionary.txt", inputs / "queries.txt", inputs / "f.json", "--held-out")


def test_a_pipeline_without_a_linker_is_refused(tmp_path: Path):
    import spacy

    spacy.blank("xx").to_disk(tmp_path / "blank")
    with pytest.raises(BergamotError, match="B047"):
        rank_with_pipeline(str(tmp_path / "blank"), [], 5)


def test_an_updated_pipeline_shows_as_many_candidates_as_are_asked_for(
    make_nlp: Callable[..., Language], inputs: Path, tmp_path: Path
):
    nlp = make_nlp(mentions=False, k=1)
    linker = nlp.get_pipe("bergamot_linker")
    names = {"X1": "colds of all kinds", "X2": "ticker trouble", "X3": "pump"}
    linker.update_index(
        [{"action": "add", "concept_id": key, "alias": alias} for key, alias in names.items()]
    )
    nlp.to_disk(tmp_path / "pipeline")
    printed = run(
        inputs / "dictionary.txt", inputs / "queries.txt", tmp_path / "figures.json",
        "--no-baselines", "--pipeline", f"pipe={tmp_path / 'pipeline'}", "--k", 8,
    )  # fmt: skip
    found = Results.open(tmp_path / "figures").systems["pipe"]
    assert {len(entry.concepts) for entry in found[1:2]} == {8}
    # "Heart  attack", and "pump", which was added.
    assert "66.7 % of the mentions are aliases of pipe's own dictionary" in printed
