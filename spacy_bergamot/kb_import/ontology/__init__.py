"""Ontologies and tables as published, merged into a knowledge base in RRF form."""
