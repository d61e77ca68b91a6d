"""A packaged pipeline for the next release of its knowledge base."""
