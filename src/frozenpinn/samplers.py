"""How the neurons of the frozen layer are drawn, for ``Settings(sampler=…)``."""

from frozenpinn.basis.samplers import ELM, SWIM, MultiScale, Orthogonal, ProjectedSWIM, Sampler

__all__ = ["ELM", "SWIM", "MultiScale", "Orthogonal", "ProjectedSWIM", "Sampler"]
