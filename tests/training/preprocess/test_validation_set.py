from pathlib import Path

from tests.training.preprocess.conftest import Run, build, name

NAMES = [name(f"C{c:03}", f"sign {c} {word}") for c in range(200) for word in "abcdef"]


def lines(run: Run, file: str) -> list[str]:
    return (run.folder / "valid" / file).read_text("utf8").split("\n")[:-1]


def test_validation_concepts_make_no_pairs_and_their_queries_no_names(tmp_path: Path):
    run = build(tmp_path, NAMES, valid_concepts=0.2, held_out=0.1)
    queries = lines(run, "queries/ENG.txt")
    assert len(queries) > 20
    concepts = {line.split("||")[0] for line in queries}
    assert len(concepts) > 15
    assert not concepts & {cui for cui, _, _ in run.pairs()}
    assert not {line.split("||")[1] for line in queries} & set(run.strings)
    dictionary = lines(run, "dictionary.txt")
    assert not set(queries) & set(dictionary)
    assert concepts <= {line.split("||")[0] for line in dictionary}
    assert concepts <= {cui for cui, names in run.node_names().items() if names}
    assert not set(queries) & set(run.queries()["ENG"])
    assert run.manifests["valid"]["queries"] == {"ENG": len(queries)}


def test_without_validation_nothing_changes(tmp_path: Path):
    run = build(tmp_path, NAMES)
    assert not (run.folder / "valid").exists()
    assert len({cui for cui, _, _ in run.pairs()}) == 200
