"""Registries that training configs are resolved through, in spaCy's confection form."""

import catalogue
import confection


class registry(confection.registry):
    """Functions that a training config may name with `@text_encoders = "…"` and so on."""

    text_encoders = catalogue.create("spacy_bergamot", "text_encoders")
    graph_encoders = catalogue.create("spacy_bergamot", "graph_encoders")
    losses = catalogue.create("spacy_bergamot", "losses")
    adapters = catalogue.create("spacy_bergamot", "adapters")
    loggers = catalogue.create("spacy_bergamot", "loggers")
    validations = catalogue.create("spacy_bergamot", "validations")
    objectives = catalogue.create("spacy_bergamot", "objectives")
    optimizers = catalogue.create("spacy_bergamot", "optimizers")
    batches = catalogue.create("spacy_bergamot", "batches")
    trainers = catalogue.create("spacy_bergamot", "trainers")
