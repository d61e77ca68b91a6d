"""What entities begin with: the mean vectors of their names, in fewer dimensions."""

import numpy as np

from spacy_bergamot.linking.candidates import CandidateGenerator

DIMENSIONS = 300


def start_of(names: list[list[str]], generator: CandidateGenerator) -> np.ndarray:
    """Return a vector of every concept, float32 (n, d), d at most 300.

    The mean of all concepts is taken off, since vectors of a language model have much in common,
    and the principal components with the largest variance are kept. A concept without a name that
    has letters begins with noise.

    names (list[list[str]]): Normal forms of the names of every concept.
    generator (CandidateGenerator): Whose index and language model are asked for vectors.
    """
    flat = [name for of in names for name in of]
    distinct = list(dict.fromkeys(flat))
    place = {name: at for at, name in enumerate(distinct)}
    vectors = generator.index.embed(distinct, generator.encoder)
    owners = np.repeat(np.arange(len(names)), [len(of) for of in names])
    means = np.zeros((len(names), vectors.shape[1]))
    np.add.at(means, owners, vectors[[place[name] for name in flat]])
    counts = np.bincount(owners, minlength=len(names))
    named = counts > 0
    means[named] /= counts[named, None]
    means[named] -= means[named].mean(0)
    _, axes = np.linalg.eigh(means.T @ means)
    kept = means @ axes[:, ::-1][:, :DIMENSIONS]
    noise = np.random.default_rng(0).standard_normal(kept.shape)
    unnamed = ~(np.linalg.norm(kept, axis=1) > 1e-6)
    kept[unnamed] = noise[unnamed]
    return kept.astype(np.float32)
