"""Corpora of annotated documents in one Arrow schema."""
