"""Other tasks of the papers: semantic groups, similarity of names, questions and entailment."""
