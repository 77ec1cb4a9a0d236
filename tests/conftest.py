"""Settings of all tests."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:  # side by side, threads of their own only get into each other's way
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
