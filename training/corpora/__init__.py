"""Gold corpora in the formats that they are published in, read into one shape."""
