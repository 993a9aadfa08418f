"""Settings of the whole suite: property tests draw the same examples every time."""

from hypothesis import settings

settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")
