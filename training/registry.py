"""Registries that training configs are resolved through, in spaCy's confection form."""

import catalogue
import confection


def _registry(name: str) -> catalogue.Registry:
    """Make a registry that also has other distributions' entry points `spacy_bergamot_NAME`."""
    return catalogue.create("spacy_bergamot", name, entry_points=True)


class registry(confection.registry):
    """Functions that a training config may name with `@text_encoders = "…"` and so on."""

    text_encoders = _registry("text_encoders")
    graph_encoders = _registry("graph_encoders")
    losses = _registry("losses")
    adapters = _registry("adapters")
    loggers = _registry("loggers")
    validations = _registry("validations")
    objectives = _registry("objectives")
    optimizers = _registry("optimizers")
    batches = _registry("batches")
    trainers = _registry("trainers")
