"""Multilingual biomedical concept linking for spaCy with a BERGAMOT language model."""

__version__ = "0.1.0"
