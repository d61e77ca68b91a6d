"""Names in the plane before and after training, coloured by concept (SapBERT, Figure 1)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from spacy_bergamot.encoder.text_encoder import TextEncoder
from training.corpora.dictionary import Dictionary
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.report.blocks import Block, Figures, Heading, Table
from training.evaluate.report.charts import key, scatter

CONCEPTS = 24
_MOST_NAMES = 15
_COMPONENTS = 50
_SEED = 0


def choose_names(dictionary: Dictionary, *, concepts: int = CONCEPTS) -> dict[str, list[str]]:
    """Return names of random concepts: of those with most names of their own, at most 15.

    Concepts are drawn from the tenth (at least `concepts`) with most names that name nothing else.
    """
    own: dict[str, list[str]] = {}
    for name, ids in zip(dictionary.names, dictionary.concepts, strict=True):
        if len(ids) == 1:
            own.setdefault(ids[0], []).append(name)
    several = {concept: names for concept, names in own.items() if len(names) > 1}
    ranked = sorted(several, key=lambda concept: (-min(len(own[concept]), _MOST_NAMES), concept))
    pool = ranked[: max(concepts, len(ranked) // 10)]
    rng = np.random.default_rng(_SEED)
    chosen = sorted(rng.choice(pool, min(concepts, len(pool)), replace=False).tolist())
    return {
        concept: sorted(rng.permutation(own[concept])[:_MOST_NAMES].tolist()) for concept in chosen
    }


def plane(vectors: np.ndarray) -> np.ndarray:
    """Return t-SNE of principal components, float (n, 2)."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    components = min(_COMPONENTS, *vectors.shape)
    reduced = PCA(components, random_state=_SEED).fit_transform(vectors)
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    return TSNE(perplexity=perplexity, init="pca", random_state=_SEED).fit_transform(reduced)


def concept_names(
    names: Mapping[str, list[str]], hierarchy: Hierarchy | None = None
) -> dict[str, str]:
    """Return what to call every concept: by its canonical name, or its first where none is known.

    A name that several have is followed by the id.

    names (Mapping[str, list[str]]): Names of every concept id.
    """
    called = {concept: of[0] for concept, of in names.items()}
    if hierarchy is not None:
        called |= {id_: name for id_ in names if (name := hierarchy.name(id_)) != id_}
    several = {name for name, times in Counter(called.values()).items() if times > 1}
    return {id_: f"{name} ({id_})" if name in several else name for id_, name in called.items()}


def tsne_section(
    dictionary: Dictionary, lms: Mapping[str, Path], hierarchy: Hierarchy | None = None
) -> Iterator[Block]:
    """Draw the same names under every language model, with the silhouette of the concepts.

    hierarchy (Hierarchy | None): Has the concepts' canonical names.
    """
    from sklearn.metrics import silhouette_score

    names = choose_names(dictionary)
    flat = [name for group in names.values() for name in group]
    labels = [concept for concept, group in names.items() for _ in group]
    if len(names) < 2:
        return
    called = concept_names(names, hierarchy)
    drawings, rows = [], []
    for title, path in lms.items():
        vectors = TextEncoder.open(path).encode(flat)
        points = plane(vectors).tolist()
        groups: dict[str, list[tuple[float, float, str]]] = {name: [] for name in called.values()}
        for concept, name, (x, y) in zip(labels, flat, points, strict=True):
            groups[called[concept]].append((x, y, name))
        drawings.append(scatter(title, groups))
        rows.append((title, f"{silhouette_score(vectors, labels, metric='cosine'):.3f}"))
    drawings.append(key("Concepts", list(called.values())))
    yield Heading("Names in the plane")
    caption = (
        f"{len(flat)} names of {len(names)} concepts, a colour and shape each: 50 principal "
        "components, then t-SNE, whose axes have no unit. The silhouette (−1 to 1, cosine; more is "
        "better) is of the whole vectors."
    )
    table = Table(("language model", "silhouette of concepts"), rows)
    yield Figures(drawings, caption, table)
