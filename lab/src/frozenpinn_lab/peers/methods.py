"""All baselines by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Protocol

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.statement.problem import Problem

MESHES = ("iga", "iga-exact", "fem")
GRIDS = ("spectral", "py-pde")
FEATURES = ("spacetime-elm", "spacetime-swim")
#: Networks trained by gradients, and what trains them.
OPTIMIZERS = {"pinn-adam": "adam", "pinn-lbfgs": "lbfgs", "causal-pinn": "causal"}
PINNS = tuple(OPTIMIZERS)
FASTLSQ = "fastlsq"  #: random sines with Newton's method, for static problems, by the package of that name
BASELINES = (*MESHES, *GRIDS, FASTLSQ, *FEATURES, *PINNS)


class BaselineSolution(Protocol):
    """What all baselines return."""

    size: int

    def error(
        self, field: str | None = None, points: int = 256, times: int = 100, at: np.ndarray | None = None
    ) -> dict[str, float]:
        """Return relative L² error and RMSE, as ``Solution.error`` does."""


def solve_baseline(
    method: str, problem: Problem, *, seed: int = 0, seconds: float | None = None, **options: Any
) -> BaselineSolution:
    """Solve a problem by another method.

    Parameters
    ----------
    method
        ``"iga"`` (splines), ``"iga-exact"`` (constant coefficients, closed form in time), ``"fem"`` (triangles),
        ``"spectral"`` (waves on boxes), ``"py-pde"`` (finite differences on boxes, by the package of that name),
        ``"fastlsq"`` (random sines for static problems, by the package of that name), ``"spacetime-elm"``,
        ``"spacetime-swim"`` (random features in space-time), ``"pinn-adam"``, ``"pinn-lbfgs"`` or ``"causal-pinn"``
        (trained networks).
    problem
        What to solve; a method that can't express it raises SettingsError and says what it can.
    seed
        Of random features and trained networks.
    seconds
        Wall-clock budget. Trained networks return what they have by then, the others raise IntegrationError.
    **options
        Those of the method: ``nodes, degree`` of splines, ``mesh_size, degree, stages, steps`` of triangles, ``modes,
        step, keep`` of waves, ``points, tolerance`` of finite differences, ``width`` of features, hyper-parameters of
        :func:`frozenpinn_lab.peers.pinn.solve_pinn`. The ``integrator`` of splines for linear equations with constant
        coefficients is ``"radau"`` by default if the equation is of first order in time and has a third or higher
        derivative in space, where stability makes explicit steps tiny; otherwise ``"dop853"``, also for beams.

    Returns
    -------
    BaselineSolution
        Called with coordinates and times that broadcast, or with points (n, d) and times, it returns values as
        ``frozenpinn.Solution`` does; ``error()`` compares with ``problem.exact``.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t + u*u_x = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    >>> splines = solve_baseline("iga", problem, nodes=20, degree=5)
    >>> bool(abs(splines([0.5], 1.0) - fp.solve(problem)(0.5, 1.0)) < 1e-6)
    True
    """
    if method in OPTIMIZERS:
        from frozenpinn_lab.peers.pinn import solve_pinn

        return solve_pinn(problem, seed=seed, seconds=seconds, **{"optimizer": OPTIMIZERS[method], **options})
    if method in FEATURES and not problem.is_static:
        from frozenpinn_lab.peers.spacetime import solve_spacetime

        fixed = {"sampler": method.removeprefix("spacetime-"), "seed": seed, "seconds": seconds}
        return _called(solve_spacetime, method, problem, fixed, options)
    if method == "fem":
        from frozenpinn_lab.peers.fem import solve_fem
        from frozenpinn_lab.peers.fem_static import solve_static_fem

        elements = solve_static_fem if problem.is_static else solve_fem
        return _called(elements, method, problem, {"seconds": seconds}, options)
    if method == FASTLSQ:
        from frozenpinn_lab.peers.fastlsq import solve_fastlsq

        return _called(solve_fastlsq, method, problem, {"seed": seed, "seconds": seconds}, options)
    if problem.is_static:
        raise SettingsError(
            f"'{method}' solves time-dependent problems; 'fem', 'fastlsq' and 'pinn-lbfgs' solve static ones."
        )
    if method == "spectral":
        from frozenpinn_lab.peers.spectral import solve_spectral

        return _called(solve_spectral, method, problem, {"seconds": seconds}, options)
    if method == "py-pde":
        from frozenpinn_lab.peers.py_pde import solve_py_pde

        return _called(solve_py_pde, method, problem, {"seconds": seconds}, options)
    if method not in MESHES:
        raise SettingsError(f"unknown baseline '{method}'; choose one of {choices(BASELINES)}.")
    from frozenpinn_lab.peers.iga import solve_iga
    from frozenpinn_lab.peers.iga_nonlinear import solve_nonlinear_iga
    from frozenpinn_lab.peers.weak_form import is_stiff

    if method == "iga-exact":
        return _called(solve_iga, method, problem, {"integrator": "exact", "seconds": seconds}, options)
    if _suits_linear_splines(problem) or (problem.is_linear and "integrator" in options):
        default = "radau" if is_stiff(problem) else "dop853"
        return _called(solve_iga, method, problem, {"seconds": seconds}, {"integrator": default, **options})
    return _called(solve_nonlinear_iga, method, problem, {"seconds": seconds}, options)


def _suits_linear_splines(problem: Problem) -> bool:
    """Whether a problem is for the linear splines; the others solve equations of first order in time only."""
    from frozenpinn_lab.peers.weak_form import has_constant_coefficients

    second = any(equation.order == 2 for equation in problem.equations)
    return problem.is_linear and (second or has_constant_coefficients(problem))


def _called(
    solve: Callable[..., BaselineSolution],
    method: str,
    problem: Problem,
    fixed: Mapping[str, Any],
    options: Mapping[str, Any],
) -> BaselineSolution:
    """Call a method; refuse options that it does not have, and ask for those that it needs."""
    known = {n: p for n, p in signature(solve).parameters.items() if n != "problem" and n not in fixed}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise SettingsError(f"'{method}' has no option {choices(unknown)} here; its options are {choices(known)}.")
    missing = [name for name, p in known.items() if p.default is Parameter.empty and name not in options]
    if missing:
        raise SettingsError(f"'{method}' needs the option(s) {choices(missing)}; its options are {choices(known)}.")
    return solve(problem, **fixed, **options)
