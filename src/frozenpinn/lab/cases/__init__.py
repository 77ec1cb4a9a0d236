"""Benchmark problems with exact solutions and published figures, written with the public API only."""

from __future__ import annotations

from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn.lab.cases.advection import CASES as _ADVECTION
from frozenpinn.lab.cases.beam import CASES as _BEAMS
from frozenpinn.lab.cases.box_reactions import CASES as _BOX_REACTIONS
from frozenpinn.lab.cases.box_transport import CASES as _BOX_TRANSPORT
from frozenpinn.lab.cases.box_waves import CASES as _BOX_WAVES
from frozenpinn.lab.cases.burgers import CASES as _BURGERS
from frozenpinn.lab.cases.case import METHODS, Baseline, Case, Published, Variant
from frozenpinn.lab.cases.high_dimension import CASES as _HIGH_DIMENSION
from frozenpinn.lab.cases.kuramoto_sivashinsky import CASES as _KURAMOTO_SIVASHINSKY
from frozenpinn.lab.cases.nonlinear_diffusion import CASES as _NONLINEAR_DIFFUSION
from frozenpinn.lab.cases.pinn_standards import CASES as _STANDARDS
from frozenpinn.lab.cases.static_linear import CASES as _STATIC_LINEAR
from frozenpinn.lab.cases.static_nonlinear import CASES as _STATIC_NONLINEAR
from frozenpinn.lab.cases.static_solids import CASES as _SOLIDS
from frozenpinn.lab.cases.wave import CASES as _WAVES

__all__ = ["CASES", "METHODS", "Baseline", "Case", "Published", "Variant", "find_case"]

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *_ADVECTION,
        *_BEAMS,
        *_WAVES,
        *_BURGERS,
        *_STANDARDS,
        *_NONLINEAR_DIFFUSION,
        *_KURAMOTO_SIVASHINSKY,
        *_BOX_REACTIONS,
        *_BOX_TRANSPORT,
        *_BOX_WAVES,
        *_HIGH_DIMENSION,
        *_SOLIDS,
        *_STATIC_LINEAR,
        *_STATIC_NONLINEAR,
    )
}


def find_case(name: str) -> Case:
    """Look a case up by name; the error lists the known ones."""
    if name not in CASES:
        raise SettingsError(f"unknown case '{name}'.{suggestion(name, CASES)} The cases are {choices(CASES)}.")
    return CASES[name]
