"""Corpora of any size: sources, documents that may fail, Arrow tables, and jobs that go on."""
