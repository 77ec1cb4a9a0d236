"""Reference solutions by methods that share nothing with the solver they judge."""

from __future__ import annotations

from frozenpinn_lab.references.box import BoxReference
from frozenpinn_lab.references.fourier import FourierReference
from frozenpinn_lab.references.harmonic import HarmonicReference

__all__ = ["BoxReference", "FourierReference", "HarmonicReference"]
