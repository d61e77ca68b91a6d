"""A mention finder: a token classifier trained on gold documents and on silver ones."""
