"""What entities begin with: the mean vectors of their names, in fewer dimensions."""

import numpy as np

from spacy_bergamot.kb.concept_table import ConceptTable
from training.align.names import Names
from training.align.sides import Side

DIMENSIONS = 300


def start_of(left: ConceptTable, right: Side) -> np.ndarray:
    """Return a vector of every left concept, then of every right one, float32 (n, d), d <= 300.

    The mean of all concepts is taken off, since vectors of a language model have much in common,
    and the principal components with the largest variance are kept. A concept without a name that
    has letters begins with noise.

    right (Side): With its generator, whose index and language model are asked for vectors.
    """
    assert right.generator is not None
    names = Names.of(left).normal + Names.of(right.table).normal
    flat = [name for of in names for name in of]
    distinct = list(dict.fromkeys(flat))
    place = {name: at for at, name in enumerate(distinct)}
    vectors = right.generator.index.embed(distinct, right.generator.encoder)
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
