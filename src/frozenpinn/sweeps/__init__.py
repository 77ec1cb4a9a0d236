"""Sweeps: one problem for many parameters, on one or many machines, into one table.

:func:`~frozenpinn.sweep` makes the table; the names here state what varies, open a stored one, and evaluate it.
"""

from frozenpinn.sweeps.definition import GaussianField, LogUniform, Normal, Uniform
from frozenpinn.sweeps.executors import SweepError
from frozenpinn.sweeps.run import sweep
from frozenpinn.sweeps.statistics import Surrogate, sensitivity, summary, surrogate
from frozenpinn.sweeps.store import open_sweep

__all__ = [
    "GaussianField",
    "LogUniform",
    "Normal",
    "Surrogate",
    "SweepError",
    "Uniform",
    "open_sweep",
    "sensitivity",
    "summary",
    "surrogate",
    "sweep",
]
