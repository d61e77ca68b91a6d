"""A smaller language model: weights in half precision, a vocabulary cut to what names use."""
