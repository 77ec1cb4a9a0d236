"""Samplers of the hidden layer: one small class each, ``sample(points, rng) -> HiddenLayer``."""

from __future__ import annotations

from frozenpinn.basis.samplers.elm import ELM
from frozenpinn.basis.samplers.multiscale import MultiScale
from frozenpinn.basis.samplers.orthogonal import Orthogonal
from frozenpinn.basis.samplers.projected import ProjectedSWIM
from frozenpinn.basis.samplers.protocol import Sampler, adapted, with_width
from frozenpinn.basis.samplers.sines import Sines
from frozenpinn.basis.samplers.swim import SWIM
from frozenpinn.basis.samplers.waves import Waves
from frozenpinn.errors import SettingsError, choices

SAMPLERS: dict[str, type] = {
    "elm": ELM,
    "swim": SWIM,
    "multi-scale": MultiScale,
    "orthogonal": Orthogonal,
    "projected-swim": ProjectedSWIM,
    "sines": Sines,
    "waves": Waves,
}

__all__ = [
    "ELM",
    "SAMPLERS",
    "SWIM",
    "MultiScale",
    "Orthogonal",
    "ProjectedSWIM",
    "Sampler",
    "Sines",
    "Waves",
    "adapted",
    "sampler_by_name",
    "with_width",
]


def sampler_by_name(name: str, width: int) -> Sampler:
    """Return a sampler with its default settings."""
    if name not in SAMPLERS:
        raise SettingsError(f"unknown sampler '{name}'; choose one of {choices(SAMPLERS)}, or pass a sampler object.")
    return SAMPLERS[name](width)
