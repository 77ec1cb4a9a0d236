"""A plain pseudo-spectral code on boxes: what a specialist would write for one problem, for all that fit it."""

from frozenpinn_lab.peers.spectral.solve import SpectralSolution, solve_spectral

__all__ = ["SpectralSolution", "solve_spectral"]
