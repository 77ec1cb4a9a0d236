"""All baselines by name."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.problem.problem import Problem

MESHES = ("iga", "iga-exact", "fem")
FEATURES = ("spacetime-elm", "spacetime-swim")
#: Networks trained by gradients, and what trains them.
OPTIMIZERS = {"pinn-adam": "adam", "pinn-lbfgs": "lbfgs", "causal-pinn": "causal"}
PINNS = tuple(OPTIMIZERS)
BASELINES = (*MESHES, *FEATURES, *PINNS)


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
        ``"iga"`` (splines), ``"iga-exact"`` (linear problems, closed form in time), ``"fem"`` (triangles),
        ``"spacetime-elm"``, ``"spacetime-swim"`` (random features in space-time), ``"pinn-adam"``, ``"pinn-lbfgs"`` or
        ``"causal-pinn"`` (trained networks).
    problem
        What to solve; a method that can't express it raises SettingsError and says what it can.
    seed
        Of random features and trained networks.
    seconds
        Wall-clock budget. Trained networks return what they have by then, the others raise IntegrationError.
    **options
        Those of the method: ``nodes, degree`` of splines, ``mesh_size, degree, stages, steps`` of triangles, ``width``
        of features, hyper-parameters of :func:`frozenpinn.baselines.pinn.solve_pinn`.

    Returns
    -------
    BaselineSolution
        Called with points (n, d) and times, it returns values; ``error()`` compares with ``problem.exact``.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t + u*u_x = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    >>> splines = solve_baseline("iga", problem, nodes=20, degree=5)
    >>> bool(abs(splines([0.5], 1.0) - fp.solve(problem)(0.5, 1.0)) < 1e-6)
    True
    """
    if method in OPTIMIZERS:
        from frozenpinn.baselines.pinn import solve_pinn

        return solve_pinn(problem, seed=seed, seconds=seconds, **{"optimizer": OPTIMIZERS[method], **options})
    if method in FEATURES:
        from frozenpinn.baselines.spacetime import solve_spacetime

        sampler = method.removeprefix("spacetime-")
        return solve_spacetime(problem, sampler=sampler, seed=seed, seconds=seconds, **options)
    if method == "fem":
        from frozenpinn.baselines.fem import solve_fem

        return solve_fem(problem, seconds=seconds, **options)
    if method not in MESHES:
        raise SettingsError(f"unknown baseline '{method}'; choose one of {choices(BASELINES)}.")
    if method == "iga-exact" or problem.is_linear:
        from frozenpinn.baselines.iga import solve_iga

        given = {**options, "integrator": "exact"} if method == "iga-exact" else {"integrator": "dop853", **options}
        return solve_iga(problem, seconds=seconds, **given)
    from frozenpinn.baselines.iga_nonlinear import solve_nonlinear_iga

    return solve_nonlinear_iga(problem, seconds=seconds, **options)
