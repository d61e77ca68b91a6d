"""Weak supervision: an annotated corpus in another language by machine translation."""
