"""Published benchmarks from a knowledge base to figures, step by step."""
