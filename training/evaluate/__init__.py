"""Evaluation of concept retrieval: readers, protocols, retrievers, metrics."""
