"""How the neurons of the frozen layer are drawn, for ``Settings(sampler=…)``; what one of your own needs."""

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale, Orthogonal, ProjectedSWIM, Sampler, Sines
from frozenpinn.basis.samplers.protocol import Cloud

__all__ = ["ELM", "SWIM", "Cloud", "HiddenLayer", "MultiScale", "Orthogonal", "ProjectedSWIM", "Sampler", "Sines"]
