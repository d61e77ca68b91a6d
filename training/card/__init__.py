"""The model card: what a packaged pipeline is, and what was measured of it."""
