"""Settings of all tests: those of the library and of the lab, and the examples in docstrings."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported; tests about threads set their own number

from hypothesis import HealthCheck, settings

# How long an example takes depends on what else the machine does, so nothing is asked about it.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("suite"), derandomize=False)  # --hypothesis-profile=explore
settings.load_profile("suite")
