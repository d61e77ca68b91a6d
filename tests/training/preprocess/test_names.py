from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.preprocess.conftest import Run, build, name, relation
from training.errors import BergamotError

LANGUAGES = ("ENG", "SPA")


def big(folder: Path, **options: float) -> Run:
    """300 concepts with 6 English and 4 Spanish names; one name in both, one shared by two."""
    rows = [name(f"C{c:03d}", f"Word {c} {i}") for c in range(300) for i in range(5)]
    rows += [name(f"C{c:03d}", f"Palabra {c} {i}", "SPA") for c in range(300) for i in range(3)]
    rows += [name(f"C{c:03d}", f"Coma {c}", lang) for c in range(300) for lang in LANGUAGES]
    rows += [name(f"C{c:03d}", f"Shared {c // 2}") for c in range(300)]
    return build(folder, rows, **options)


def split(lines: list[str]) -> set[tuple[str, str]]:
    return {(cui, text) for cui, _, text in (line.partition("||") for line in lines)}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return big(tmp_path_factory.mktemp("held"), held_out=0.2)


def test_the_share_is_held_out_in_every_language(held: Run) -> None:
    counts = {language: len(lines) for language, lines in held.queries().items()}
    assert counts == held.manifests["eval"]["queries"]
    own = {"ENG": 300 * 5, "SPA": 300 * 3}
    for language in LANGUAGES:
        mine = sum("Coma" not in line for line in held.queries()[language])
        deviation = np.sqrt(own[language] * 0.2 * 0.8)
        assert abs(mine - own[language] * 0.2) < 4 * deviation
    # Either language may draw a name of both.
    both = sum("Coma" in line for line in held.queries()["ENG"])
    assert abs(both - 300 * 0.36) < 4 * np.sqrt(300 * 0.36 * 0.64)


def test_a_held_out_name_leaves_its_concept_in_all_languages_but_not_the_index(held: Run) -> None:
    queries = {language: split(lines) for language, lines in held.queries().items()}
    everything = queries["ENG"] | queries["SPA"]
    trained = {(cui, text) for cui, texts in held.node_names().items() for text in texts}
    paired = {(cui, text) for cui, *texts in held.pairs() for text in texts}
    hidden = {(cui, text.lower()) for cui, text in everything}
    assert not hidden & (trained | paired)
    assert not everything & split(held.dictionary())
    assert everything | split(held.dictionary()) == {(c, text) for c, _, text in held.aliases()}
    comas = {line for line in everything if "Coma" in line[1]}
    assert comas <= queries["ENG"]
    assert comas <= queries["SPA"]


def test_names_of_several_concepts_are_not_held_out(held: Run) -> None:
    assert not any("Shared" in line for lines in held.queries().values() for line in lines)


def test_lines_are_sorted_distinct_and_in_the_case_of_the_source(held: Run) -> None:
    for lines in [*held.queries().values(), held.dictionary()]:
        assert lines == sorted(set(lines))
        assert all(text[0].isupper() for _, text in split(lines))


@pytest.mark.parametrize("ids", ["C{:03d}", "C{}"], ids=["of one length", "of several"])
def test_lines_are_sorted_whole(ids: str, tmp_path: Path) -> None:
    """Lines of C1 follow those of C10, for the bar follows the digits."""
    rows = [name(ids.format(c), text) for c in range(30) for text in ("b", "c", "ä", "a")]
    rows += [name(ids.format(c), "b", "SPA") for c in range(30)]
    built = build(tmp_path, rows)
    assert built.dictionary() == sorted({f"{cui}||{text}" for cui, _, text in built.aliases()})


def test_with_the_seed_everything_changes_and_without_nothing(tmp_path: Path, held: Run) -> None:
    again = big(tmp_path / "again", held_out=0.2)
    assert again.queries() == held.queries()
    other = big(tmp_path / "other", held_out=0.2, seed=1)
    assert other.queries() != held.queries()


def test_nothing_held_out_writes_the_dictionary_only(tmp_path: Path) -> None:
    built = big(tmp_path)
    assert built.queries() == {}
    assert split(built.dictionary()) == {(cui, text) for cui, _, text in built.aliases()}
    assert built.manifests["eval"]["dictionary"] == len(built.dictionary())


def test_spellings_that_differ_in_case_are_one_name(tmp_path: Path) -> None:
    rows = [name(f"C{c}", f"{text} {c}") for c in range(50) for text in ("Ab", "AB", "ab", "x")]
    built = build(tmp_path, rows, held_out=0.5)
    hidden = split(built.queries()["ENG"])
    with_letters = [cui for cui, text in hidden if text.lower().startswith("ab")]
    assert with_letters
    assert all("AB" in text for _, text in hidden if not text.startswith("x")), "the first one"
    assert len(with_letters) == len(set(with_letters))
    for cui in with_letters:
        assert {text for c, text in split(built.dictionary()) if c == cui} == {f"x {cui[1:]}"}


names_of_few = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abcdefg"), st.sampled_from(LANGUAGES)),
    min_size=1,
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(rows=names_of_few, share=st.floats(0, 0.99), seed=st.integers(0, 99))
def test_every_concept_keeps_a_name(
    rows: list[tuple[int, str, str]],
    share: float,
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # Names that two concepts share are not held out, so that there is a pair to train on.
    lines = [name(cui, text) for cui in ("D1", "D2") for text in ("one", "two")]
    lines += [name(f"C{cui}", text, language) for cui, text, language in rows]
    built = build(tmp_path_factory.mktemp("h"), lines, held_out=share, seed=seed)
    kept = {cui for cui, _ in split(built.dictionary())}
    assert kept == set(built.cuis)
    assert all(built.node_names().values())
    hidden = {(c, t) for lines in built.queries().values() for c, t in split(lines)}
    owners = {text: {f"C{cui}" for cui, other, _ in rows if other == text} for _, text, _ in rows}
    assert all(len(owners.get(text, {cui})) == 1 for cui, text in hidden)


def test_a_held_out_name_does_not_come_back_as_a_trade_name(tmp_path: Path) -> None:
    rows = [name(f"C{c:02d}", f"drug {c} {i}") for c in range(40) for i in range(5)]
    relations = [relation(f"C{c:02d}", f"C{c ^ 1:02d}", "RO", "has_tradename") for c in range(40)]
    built = build(tmp_path, rows, relations, held_out=0.3)
    hidden = {text for _, text in split(built.queries()["ENG"])}
    assert hidden
    assert not hidden & set(built.strings)


def test_training_names_are_distinct_and_in_the_order_of_the_aliases(held: Run) -> None:
    aliases = [text.strip().lower() for text in held.rows("aliases", "alias")]
    hidden = set(aliases) - set(held.strings)
    assert held.strings == [text for text in dict.fromkeys(aliases) if text not in hidden]
    assert held.train.names.type == "large_string"
    for cui, texts in held.node_names().items():
        assert texts == sorted(texts, key=aliases.index), cui


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_an_impossible_share_is_an_error(share: float, tmp_path: Path) -> None:
    with pytest.raises(BergamotError, match="B037"):
        build(tmp_path, [name("C1", "a"), name("C1", "b")], held_out=share)
