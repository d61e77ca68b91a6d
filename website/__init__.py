"""What makes the generated pages of the documentation: `python -m website`."""
