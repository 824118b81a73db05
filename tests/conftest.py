"""Settings that every test shares."""

from hypothesis import settings

# A slow machine is no failure: the time of a whole test is bounded by pytest's own time-out.
settings.register_profile("tidegate", deadline=None)
settings.load_profile("tidegate")
