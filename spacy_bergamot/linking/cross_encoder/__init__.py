"""A language model that reads a mention in its context together with a candidate."""

KIND = "cross-encoder"
