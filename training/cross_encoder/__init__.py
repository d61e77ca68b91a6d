"""Training of the reranker that reads mention and candidate together."""
