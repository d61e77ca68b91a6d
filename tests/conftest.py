"""Property-based tests have no deadline: a slow machine is no failure."""

from hypothesis import settings

settings.register_profile("without_deadline", deadline=None)
settings.load_profile("without_deadline")
