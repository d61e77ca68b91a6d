"""A knowledge base of any known form to a concept table; it needs the extra `kb`."""
