"""What tests of the lab share: its cases are solved once, as no test measures seconds."""

import pytest

from frozenpinn_lab import runner


@pytest.fixture(autouse=True)
def solved_once(monkeypatch):
    """Leave out the warm-up and the repetitions that a bench needs for its clock."""
    monkeypatch.setattr(runner, "REPEATS", ())
    monkeypatch.setattr(runner, "WARM_UP", 0.0)
