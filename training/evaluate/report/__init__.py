"""Reports that people read: one list of blocks, written as HTML and as Markdown."""
