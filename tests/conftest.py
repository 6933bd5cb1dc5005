"""Settings shared by all tests."""

import os

import hypothesis

# compiling makes first examples slow; time is no subject of these tests
hypothesis.settings.register_profile("lazyrich", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("lazyrich")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# a test that wants the data folder says so; the others see a machine without one
os.environ.pop("LAZYRICH_DATA", None)
