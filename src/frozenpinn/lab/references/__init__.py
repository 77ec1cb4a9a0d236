"""Reference solutions by methods that share nothing with the solver they judge."""

from __future__ import annotations

from frozenpinn.lab.references.box import BoxReference
from frozenpinn.lab.references.fourier import FourierReference
from frozenpinn.lab.references.harmonic import HarmonicReference

__all__ = ["BoxReference", "FourierReference", "HarmonicReference"]
