"""A linker as a service on HTTP, and a page for people: `python -m spacy bergamot serve`.

It needs the extra `serve`. All that the pipeline does is done by one thread (`model_thread`); what
is read from the knowledge base alone is read beside it.
"""
