"""Refusal that is learned without a gold corpus, on the sample knowledge base by 3-grams."""

from pathlib import Path

import pytest
import spacy
from rapidfuzz.distance import OSA
from spacy.language import Language
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.languages import lat
from spacy_bergamot.pipeline.build import build_pipeline
from spacy_bergamot.pipeline.held_out import Name, answers, everyday_words
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.factories import mark

SAMPLE = Path(__file__).parents[3] / "assets/sample/META/MRCONSO.RRF"
LEXICAL = {"@misc": "spacy_bergamot.LexicalGenerator.v1"}
NO_CONCEPTS = (Path(__file__).parents[2] / "no_concepts.txt").read_text("utf8").split()


@pytest.fixture(scope="module")
def names() -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for line in SAMPLE.read_text("utf8").splitlines():
        row = line.split("|")
        known.setdefault(row[0], []).append(row[14])
    return known


@pytest.fixture(scope="module")
def held_out(names: dict[str, list[str]]) -> list[Name]:
    every = [Name(frozenset([key]), name) for key, of in names.items() for name in of[1:]]
    return every[::5]


@pytest.fixture(scope="module")
def nlp(lm: Path, names: dict[str, list[str]]) -> Language:
    blank = spacy.blank("xx")
    made = build_pipeline(lm=lm, concepts=names, nlp=blank, engine="exact")
    config = {"components": {"bergamot_linker": {"generator": LEXICAL}}}
    return spacy.blank("xx").from_config(made.config.merge(config)).from_bytes(made.to_bytes())


def test_a_linker_is_asked_for_five_kinds_of_mentions(nlp: Language, held_out):
    linker = nlp.get_pipe("bergamot_linker")
    made = answers(linker, held_out, seed=1)
    count = len(held_out)
    hidden, shown = made.candidates[:-count], made.candidates[-2 * (count // 2) :]
    golds = made.golds[-len(shown) :]
    assert all(f[0].score == pytest.approx(1, abs=1e-5) for f in shown[: count // 2])
    assert all(golds[: count // 2])
    assert not any(golds[count // 2 :])  # everyday words
    assert all(f[0].score < 1 for f in shown[count // 2 :] if f)
    missing = [gold for gold in made.golds[: len(hidden)] if not gold]
    assert 0.1 < len(missing) / len(hidden) < 0.4
    # A held-out name is not there for the occasion, and there again afterwards.
    gold, name, _ = next(one for one in held_out if len(linker.kb.alias_to_cuis[one.text]) == 1)
    found = linker.generator.generate([(name.lower(), "")], k=1)[0][0]
    assert ({found.concept_id}, found.score) == (gold, pytest.approx(1, abs=1e-5))


def test_words_of_languages_that_no_name_is_in_say_none(make_nlp):
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    names = [Name(frozenset(["C01"]), "hipertension", "SPA")] * 400
    made = answers(linker, names)
    languages = [mention.language for mention in made.mentions]
    assert set(languages[:100]) == {"SPA"}
    words = [of for of, gold in zip(languages[-200:], made.golds[-200:], strict=True) if not gold]
    known = {lat(language) for language in linker.kb.aliases_by_language()}
    assert {"", "RUS"} < set(words) <= {"", *known}


def test_some_names_are_misspelt(make_nlp):
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    made = answers(linker, [Name(frozenset(["C01"]), "hipertension", "SPA")] * 120)
    known = {normalize(name) for name in linker.kb.names()}
    wrong = [
        (mention.text, gold)
        for mention, gold in zip(made.mentions, made.golds, strict=True)
        if gold and mention.text not in known and mention.text != "hipertension"
    ]
    assert 5 <= len(wrong) <= 10
    for text, gold in wrong:
        names = [name["alias"] for concept in gold for name in linker.kb.aliases(concept)]
        assert min(OSA.distance(text, normalize(name)) for name in names) == 1


def test_everyday_words_are_of_many_languages_and_scripts():
    words = everyday_words()
    assert len(words) > 4000
    assert {"apple", "startup", "беспилотные автомобили"} <= set(words)


def test_what_is_no_concept_is_refused_and_names_are_not(
    nlp: Language, names: dict[str, list[str]], held_out, tmp_path: Path
):
    (tmp_path / "queries").mkdir()
    for number in (0, 1):
        lines = [f"{'|'.join(gold)}||{name}\n" for gold, name, _ in held_out[number::2]]
        (tmp_path / f"queries/{number}.txt").write_text("".join(lines), "utf8")
    pipeline = tmp_path / "pipeline"
    nlp.to_disk(pipeline)
    arguments = ["calibrate", pipeline, tmp_path / "queries", pipeline, "--held-out"]
    result = CliRunner().invoke(bergamot, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    refusing = spacy.load(pipeline)
    linker = refusing.get_pipe("bergamot_linker")
    assert f"min_probability {linker.settings.min_probability}: precision" in result.output

    def linked(texts: list[str]) -> float:
        docs = linker.pipe(mark(refusing, text, text) for text in texts)
        return sum(doc.ents[0].kb_id_ != "NIL" for doc in docs) / len(texts)

    assert linked(NO_CONCEPTS) <= 0.03
    assert linked([of[0] for of in names.values()]) > 0.99
    long = [name for of in names.values() for name in of if name.isascii() and len(name) > 12]
    typos = [f"{name[:5]}{name[6]}{name[5]}{name[7:]}" for name in long[::10]]
    assert linked(typos) > 0.6
    said = linker.explain("Müller")
    assert said["decision"] == "NIL"
    assert said["reason"] == "nothing was found" or "is below min_probability" in said["reason"]
    assert linker.explain(names["C0020538"][0])["reason"] == ""


def test_of_a_name_that_several_concepts_have_any_is_right(make_nlp):
    """No name by itself can say which is meant."""
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    made = answers(linker, [Name(frozenset(["C02"]), "sugar trouble", "ENG")] * 400)
    golds = {
        gold
        for mention, gold in zip(made.mentions, made.golds, strict=True)
        if mention.text == "cold"
    }
    assert golds == {frozenset(["C04", "C05"])}
