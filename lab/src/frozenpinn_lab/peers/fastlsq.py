"""FastLSQ (Sulc 2026): random sines, least squares with Tikhonov's regularisation, Newton's method; its own package.

What it is told of a problem: places inside and on the boundary, the residual with its derivative at the features, and
boundary values. Everything else, its choice of a frequency included, is the package's. Places are uniformly random,
boundary rows count a hundredfold, as in its own examples.
"""

from __future__ import annotations

from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from frozenpinn.assembly.collocation import slopes_of
from frozenpinn.errors import MissingExtraError, SettingsError
from frozenpinn.language.jets import Jet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.score import Scored, check_seconds

Array = np.ndarray
BOUNDARY = 100.0  #: weight of boundary rows


def load() -> tuple[Any, Any]:
    """Return fastlsq and torch, or say how to install them."""
    try:
        torch = import_module("torch")
        return import_module("fastlsq"), torch
    except ImportError:
        raise MissingExtraError(
            "the peer 'fastlsq' needs the package of that name and PyTorch: pip install './lab[fastlsq]'."
        ) from None


class FastLsqSolution(Scored):
    """A solution of FastLSQ.

    Attributes
    ----------
    problem, size, scale
        What was solved, the number of features, and the frequency that was chosen.
    seconds
        Of the solve, with the choice of the frequency and without loading PyTorch.
    """

    def __init__(self, problem: Problem, size: int, found: dict[str, Any], seconds: float) -> None:
        self.problem, self.size, self.scale, self.seconds = problem, size, float(found["scale"]), seconds
        self._evaluate = found["u_fn"]

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return the values at points (n, d), once for each of the times."""
        values = self._evaluate(np.ascontiguousarray(x)).detach().numpy()[:, :1]
        return np.repeat(values, len(times), axis=1)


class Adapter:
    """A problem in the form that FastLSQ asks for."""

    def __init__(self, problem: Problem, torch: Any, seed: int) -> None:
        self.problem, self.torch, self.dim = problem, torch, problem.domain.dimension
        self.slopes, self.rng = slopes_of(problem, problem.fields[0]), np.random.default_rng(seed)

    def get_train_data(self, n_pde: int = 5000, n_bc: int = 1000) -> tuple[Any, list[tuple[Any, Any]], None]:
        """Place points; return them with the boundary values."""
        domain = self.problem.domain
        inside = domain.sample(n_pde, "random", self.rng).x
        each, pairs = max(1, n_bc // len(self.problem.conditions)), []
        for condition in self.problem.conditions:
            x = domain.sample_side(condition.side, each, "random", self.rng).x
            values = np.broadcast_to(condition.value(x, 0.0), len(x)) / float(condition.coefficients[0])
            pairs.append((self.tensor(x), self.tensor(values)[:, None]))
        return self.tensor(inside), pairs, None

    def tensor(self, values: Array) -> Any:
        """Return an array as a tensor."""
        return self.torch.tensor(np.array(values, dtype=float))

    def build_newton_step(self, solver: Any, x_pde: Any, bcs: Any, f_pde: None) -> tuple[Any, Any]:
        """Return rows and right-hand side of a step."""
        basis, cache, x = solver.basis, solver.basis.cache(x_pde), x_pde.numpy()
        tables = [_features(basis, x_pde, cache, jet) for jet in self.slopes.jets]
        values = [(table @ solver.beta).numpy()[:, 0] for table in tables]
        residual = np.broadcast_to(self.slopes.value(*x.T, 0.0, *values)[0], len(x))
        factors = [np.broadcast_to(p, len(x)) for p in self.slopes.partials(*x.T, 0.0, *values)]
        rows = [sum(self.tensor(f)[:, None] * table for f, table in zip(factors, tables, strict=True))]
        right = [-self.tensor(residual)[:, None]]
        for place, value in bcs:
            table = basis.evaluate(place)
            rows.append(BOUNDARY * table)
            right.append(BOUNDARY * (value - table @ solver.beta))
        return self.torch.cat(rows, 0), self.torch.cat(right, 0)

    def build_linear_init(self, solver: Any, x_pde: Any, bcs: Any, f_pde: None) -> tuple[Any, Any]:
        """Return the first system: the step from zero."""
        return self.build_newton_step(solver, x_pde, bcs, f_pde)

    def exact(self, x: Any) -> Any:
        """Return the exact solution, by which the package chooses its frequency."""
        return self.tensor(self.problem.exact[self.problem.fields[0]](x.numpy(), 0.0))[:, None]

    def get_test_points(self, n: int = 5000) -> Any:
        """Return random places."""
        return self.tensor(self.problem.domain.sample(n, "random", self.rng).x)


def _features(basis: Any, x: Any, cache: Any, jet: Jet) -> Any:
    """Return a derivative of all features."""
    if jet.laps == 1 and not any(jet.alpha):
        return basis.laplacian(x, cache=cache)
    return basis.derivative(x, jet.alpha, cache=cache)


def solve_fastlsq(
    problem: Problem, *, width: int = 1500, scale: float | None = None, seed: int = 0, seconds: float | None = None
) -> FastLsqSolution:
    """Solve a static problem with FastLSQ.

    Parameters
    ----------
    problem
        One equation with values on all sides.
    width
        Number of features, in three blocks.
    scale
        Frequency of the features; None lets the package choose, which it does with the exact solution at hand.
    seed
        Of features and places.
    seconds
        Not enforced: the package can't be interrupted.
    """
    check_seconds(seconds)
    values = all(len(c.jets) == 1 and c.jets[0].order == 0 for c in problem.conditions)
    if (
        not problem.is_static
        or len(problem.fields) != 1
        or not values
        or any(j.laps > 1 for j in slopes_of(problem, problem.fields[0]).jets)
    ):
        raise SettingsError(
            f"FastLSQ takes one static equation of second order with values on all sides here, got {problem!r}."
        )
    fastlsq, torch = load()
    torch.manual_seed(seed)
    started = perf_counter()
    found = fastlsq.solve_nonlinear(
        Adapter(problem, torch, seed),
        scale=scale,
        hidden_size=max(1, width // 3),
        tol_res=1e-12,
        tol_du=1e-13,
        return_metrics=False,
        verbose=False,
    )
    return FastLsqSolution(problem, 3 * (width // 3), found, perf_counter() - started)
