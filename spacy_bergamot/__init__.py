"""Multilingual biomedical concept linking for spaCy with a BERGAMOT language model."""

__version__ = "0.1.0"

try:
    import pyarrow as _  # noqa: F401
except ImportError as reason:
    # pyarrow 26 needs numpy 2 and does not say so where pip could read it.
    remedy = 'Beside numpy 1, as scispaCy wants it: pip install "pyarrow<26"'
    raise ImportError(f"spacy_bergamot cannot import pyarrow: {reason}. {remedy}") from reason
