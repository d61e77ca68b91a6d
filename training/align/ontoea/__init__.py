"""OntoEA: concepts of two ontologies aligned by their hierarchies and semantic types.

Xiang et al. 2021, "OntoEA: Ontology-guided Entity Alignment via Joint Knowledge Graph Embedding".
"""
