"""Benchmark problems with exact solutions and published figures, written with the public API only."""

from __future__ import annotations

from functools import cache

from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases.advection import CASES as _ADVECTION
from frozenpinn_lab.cases.beam import CASES as _BEAMS
from frozenpinn_lab.cases.box_reactions import CASES as _BOX_REACTIONS
from frozenpinn_lab.cases.box_transport import CASES as _BOX_TRANSPORT
from frozenpinn_lab.cases.box_waves import CASES as _BOX_WAVES
from frozenpinn_lab.cases.burgers import CASES as _BURGERS
from frozenpinn_lab.cases.case import METHODS, Baseline, Case, Published, Variant
from frozenpinn_lab.cases.determined_fields import CASES as _DETERMINED
from frozenpinn_lab.cases.flow import CASES as _FLOWS
from frozenpinn_lab.cases.high_dimension import CASES as _HIGH_DIMENSION
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.cases.kuramoto_sivashinsky import CASES as _KURAMOTO_SIVASHINSKY
from frozenpinn_lab.cases.membrane_modes import CASES as _MEMBRANES
from frozenpinn_lab.cases.nonlinear_diffusion import CASES as _NONLINEAR_DIFFUSION
from frozenpinn_lab.cases.pinn_standards import CASES as _STANDARDS
from frozenpinn_lab.cases.static_linear import CASES as _STATIC_LINEAR
from frozenpinn_lab.cases.static_nonlinear import CASES as _STATIC_NONLINEAR
from frozenpinn_lab.cases.static_solids import CASES as _SOLIDS
from frozenpinn_lab.cases.wave import CASES as _WAVES

__all__ = ["CASES", "METHODS", "Baseline", "Case", "Published", "Variant", "find_case", "inverse_cases"]

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
        *_DETERMINED,
        *_FLOWS,
        *_HIGH_DIMENSION,
        *_SOLIDS,
        *_STATIC_LINEAR,
        *_STATIC_NONLINEAR,
        *_MEMBRANES,
    )
}


def find_case(name: str) -> Case:
    """Look a case up by name, an inverse one too; the error lists the known ones."""
    known = CASES | inverse_cases()
    if name not in known:
        raise SettingsError(f"unknown case '{name}'.{suggestion(name, known)} The cases are {choices(known)}.")
    return known[name]


@cache
def inverse_cases() -> dict[str, Case]:
    """Return the inverse cases as the bench runs them, which is with exact data; ``--all`` leaves them out."""
    from frozenpinn_lab.cases.inverse import CASES as _INVERSE

    return {name: _for_bench(case) for name, case in _INVERSE.items()}


def _for_bench(case: InverseCase) -> Case:
    settings, published = {("best", "high"): Settings()}, {}
    if case.paper is not None:
        settings["paper", "high"] = Settings()
        published["high"] = Published(case.published["paper"], case.paper[1])
    costly = ("paper",) if case.truth else ()  # a scan solves the problem some sixty times
    return Case(case.name, case.title, case.problem, settings, published, costly=costly, inverse=case)
