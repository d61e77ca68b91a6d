from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from spacy_bergamot.index import lexical
from spacy_bergamot.index.lexical import LexicalIndex

SYLLABLES = ["car", "di", "o", "my", "path", "neph", "ro", "itis", "der", "ma", "心", "筋", "гипер"]


@pytest.fixture(scope="module")
def names() -> list[str]:
    rng = np.random.default_rng(0)

    def word() -> str:
        return "".join(rng.choice(SYLLABLES, size=rng.integers(1, 5)))

    made = {" ".join(word() for _ in range(rng.integers(1, 4))) for _ in range(3000)}
    return sorted(made)


@pytest.fixture(scope="module")
def index(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    folder = tmp_path_factory.mktemp("lexical")
    LexicalIndex.build(folder, pa.array(names, pa.large_string()))
    return LexicalIndex(folder)


@pytest.mark.parametrize("k", [1, 10, 50])
def test_it_finds_what_scikit_learn_s_product_finds(names, index, k):
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), binary=True, lowercase=False
    )
    matrix = vectorizer.fit_transform(names)
    rng = np.random.default_rng(1)
    queries = [*rng.choice(names, 60), "cardiopathy", "nephritis dermal", "心筋", "x"]
    for query in queries:
        scores = (matrix @ vectorizer.transform([str(query)]).T).toarray()[:, 0]
        ((ids, found),) = index.search([str(query)], k)
        # scikit-learn leaves a query's unknown grams out of its norm; ours count.
        best = np.sort(scores)[::-1][: len(ids)]
        if not len(ids):
            assert scores.max() == 0
            continue
        scale = found[0] / best[0]
        np.testing.assert_allclose(found, best * scale, atol=2e-5)
        np.testing.assert_allclose(scores[ids] * scale, found, atol=2e-5)
        assert len(ids) == min(k, int((scores > 0).sum()))


def test_names_in_several_chunks_give_the_same_index(names, index, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(lexical, "_CHUNK", 700)
    LexicalIndex.build(tmp_path, pa.array(names, pa.large_string()))
    again = LexicalIndex(tmp_path)
    assert (again.grams == index.grams).all()
    for one, other in zip(index.search(names, 50), again.search(names, 50), strict=True):
        assert (one[0] == other[0]).all()
        assert (one[1] == other[1]).all()


def test_nothing_shared_is_nothing_found(index):
    for ids, scores in index.search(["", "qqq", "7", " "], 5):
        assert len(ids) == len(scores) == 0
    assert index.search([], 5) == []


def test_low_scores_can_be_left_out(names, index):
    ((_, scores),) = index.search([names[7]], 50, smallest=0.4)
    assert scores[0] == pytest.approx(1, abs=1e-6)
    assert (scores >= 0.4).all()


def test_scores_of_given_names_are_those_of_the_search(names, index):
    for query in [*names[::500], "cardiopathy", "nephritis dermal", "x"]:
        ((ids, scores),) = index.search([query], 20)
        others = np.arange(0, len(names), 97)
        found = index.cosines(query, np.concatenate([ids, others]))
        np.testing.assert_allclose(found[: len(ids)], scores, atol=1e-6)
        assert (found[len(ids) :] <= min(scores, default=0) + 1e-6)[~np.isin(others, ids)].all()


CONTROLS = ["\0", "\x01", "\x1b", "\x1f", "\x7f", "\x85", "\x9f", "\U0010ffff"]


@pytest.mark.parametrize("character", CONTROLS)
def test_no_character_of_a_name_breaks_the_index(names, tmp_path: Path, character: str):
    broken = [f"he{character}art", character, *names, f"{character}end"]
    LexicalIndex.build(tmp_path, pa.array(broken, pa.large_string()))
    index = LexicalIndex(tmp_path)
    found = index.search(broken, 1)
    np.testing.assert_allclose([scores[0] for _, scores in found], 1, atol=1e-5)
    assert [found[row][0][0] for row in (0, 1, -1)] == [0, 1, len(broken) - 1]
    for row in range(0, len(broken), 100):
        assert index.cosines(broken[row], np.array([row])) == pytest.approx([1], abs=1e-5)
    assert index.cosines(broken[0], np.arange(2)) == pytest.approx([1, 0], abs=1e-6)
