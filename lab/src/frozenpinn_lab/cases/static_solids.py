"""The Helmholtz equation in solids: inside a closed surface mesh, and in a gyroid.

    Δu − u = f in Ω,  u = g on ∂Ω,  with f and g such that
    u₁ = exp(x + y + z),   u₂ = 5 + sin πx sin πy sin 4πz

The equation and both solutions are those of the paper, whose solid is the Stanford bunny as a cloud of points. Here it
is ``nut.ply`` of PyVista's wheel, and a network of channels bounded by a smoothed gyroid; with the bunny at hand, write
``frozenpinn bench helmholtz-solid --mesh bunny.ply``. Solids are about the origin, and the longest side of their
bounding box is 1 (the paper does not tell the size of its bunny): u₂ has two waves along z there, and half a wave along
x and y.

Our reading of the paper's settings: 3000 features of ELM for u₁ and 4000 of SWIM for u₂, its best ones, fitted at 6000
points inside and 888 on the surface, after an SVD layer that keeps 1200 and 1600 functions; Gaussian weights and biases
in [−1, 1]. All this is printed but the solid, and how the points are spread (at random here).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import numpy as np

from frozenpinn.basis.samplers import ELM, SWIM, Sampler
from frozenpinn.basis.svd_layer import SVDLayer
from frozenpinn.errors import MissingExtraError, ProblemError
from frozenpinn.geometry import Domain, Implicit, SurfaceMesh, read_mesh
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Published, Variant
from frozenpinn_lab.cases.static_common import static_case, widths

SOLUTIONS = {"u1": "exp(x + y + z)", "u2": "5 + sin(pi*x)*sin(pi*y)*sin(4*pi*z)"}
SOURCES = {"u1": "2*exp(x + y + z)", "u2": "-5 - (18*pi**2 + 1)*sin(pi*x)*sin(pi*y)*sin(4*pi*z)"}
GYROID = "gyroid"
_WAVES = "sin(8*x)*cos(8*y) + sin(8*y)*cos(8*z) + sin(8*z)*cos(8*x)"


def helmholtz(solution: str = "u1", mesh: str = "nut.ply") -> Problem:
    """Return the equation with one of the two solutions, in a solid."""
    domain, exact = solid(mesh), SOLUTIONS[solution]
    return Problem(f"lap(u) - u = {SOURCES[solution]}", domain, boundary=f"u = {exact}", exact=exact)


def solid(mesh: str) -> Domain:
    """Return the gyroid, a mesh of PyVista's wheel, or one from a file of the user."""
    if mesh == GYROID:
        return Implicit(f"{_WAVES} + 512*(x**2 + y**2 + z**2)**4 - 0.3", [-0.55] * 3, [0.55] * 3)
    path = Path(mesh)
    if not path.is_file():
        path = _examples() / mesh
    found = read_mesh(path)
    if not isinstance(found, SurfaceMesh):
        raise ProblemError(f"'{mesh}' has no closed surface of triangles in space; it is {found!r}.")
    middle, length = (found.lower + found.upper) / 2, float(np.max(found.lengths))
    return SurfaceMesh((found.vertices - middle) / length, found.facets)


def _examples() -> Path:
    """Return the folder of PyVista's meshes."""
    try:
        module = import_module("pyvista")
    except ImportError:
        raise MissingExtraError(
            "the mesh of this case comes with PyVista: pip install './lab[peers]'; --mesh FILE takes one of yours."
        ) from None
    return Path(str(module.__file__)).parent / "examples"


def places(problem: Problem) -> np.ndarray:
    """Return 4000 random points inside and 500 on the surface."""
    domain = problem.domain
    sides = [domain.sample_side(side, 500, "random", 4321).x for side in domain.sides]
    return np.concatenate([domain.sample(4000, "random", 4320).x, *sides])


def paper(sampler: Sampler, rank: int) -> Settings:
    """Return the paper's way, with an SVD layer of given rank."""
    return Settings(
        sampler=sampler, points=6000, boundary_points=888, point_method="random", cutoff=SVDLayer(rank=rank)
    )


_PAPER: dict[str, tuple[Settings, Published]] = {
    "u1": (paper(ELM(3000, eta=1.0), 1200), Published(6.90e-7, 69.06)),
    "u2": (paper(SWIM(4000), 1600), Published(1.02e-3, 129.2)),
}


def variant(solution: str, mesh: str, high: int, low: int) -> Variant:
    """Return a solid with one of the solutions."""
    settings: Mapping[tuple[str, str], Settings] = {
        **widths(high, low),
        ("paper", "high"): _PAPER[solution][0],
    }
    published = {"high": _PAPER[solution][1]}
    arguments = {"solution": solution, "mesh": mesh}
    peers = {"pinn-lbfgs": {"lbfgs_steps": 10_000}} if solution == "u2" else {}
    return Variant(f"{Path(mesh).stem}, {solution}", arguments, settings, peers=peers, published=published)


CASES = (
    static_case(
        "helmholtz-solid",
        "Helmholtz equation in solids",
        helmholtz,
        {**widths(480, 120), ("paper", "high"): _PAPER["u1"][0]},
        variants=(
            variant("u1", "nut.ply", 480, 120),
            variant("u2", "nut.ply", 960, 480),
            variant("u1", GYROID, 640, 120),
            variant("u2", GYROID, 960, 480),
        ),
        test_points=places,
        costly=("paper",),
    ),
)
