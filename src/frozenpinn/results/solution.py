"""The solution: a function of space and time that can be evaluated and differentiated anywhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenpinn.adaptivity.estimate import ErrorEstimate, compare, pointwise
from frozenpinn.analysis.subspace import Subspace
from frozenpinn.assembly.discretisation import System
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import EvaluationError, FrozenPinnWarning, IntegrationError, choices, warn
from frozenpinn.geometry import Box
from frozenpinn.language.jets import Jet
from frozenpinn.solvers.protocol import Trajectory
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    import xarray

    from frozenpinn.results.report import Report
    from frozenpinn.results.residuals import Residuals

Array = np.ndarray
_BLOCK = 8_000_000  # basis values held at a time while evaluating


class Piece(NamedTuple):
    """A window of time with its own basis.

    ``loss`` is the relative L² misfit of the projection onto this basis at its start, ``integrator`` what carried the
    coefficients through the window.
    """

    system: System
    trajectory: Trajectory
    start: float
    end: float
    loss: float = 0.0
    integrator: str = ""

    def coefficients(self, times: Array, space: int = 0, order: int = 0, *, interpolated: bool = False) -> Array:
        """Return ∂ₜ^order of the coefficients of one space, shape (m, r)."""
        system = self.system
        states = self.trajectory(np.asarray(times, dtype=float))
        if order == 0:
            return states[:, system.blocks[space]]
        if order == 1 and system.spaces[space].order == 2:
            return np.array([system.split(y)[space][1] for y in states])
        if interpolated:
            rates = self.trajectory.rates(np.asarray(times, dtype=float))
        else:
            rates = system.rates(np.asarray(times, dtype=float), states)
        return np.array([system.split(rate)[space][order - 1] for rate in rates])

    def outer(self, x: Array, times: Array, jet: Jet, interpolated: bool = False) -> Array:
        """Return the values at all points and all times, shape (n, m)."""
        index, space = self.system.space_of(jet.field)
        coefficients = self.coefficients(times, index, jet.time, interpolated=interpolated)
        terms = [Term(jet.field, Derivative(jet.alpha, jet.laps))]
        lifted = self._lift_coefficients(times, index, jet.time)
        data = None if lifted is None else lifted.T
        out = np.empty((len(x), len(times)))
        for part in _blocks(len(x), space.network.size):
            out[part] = space.network.combine(x[part], terms, coefficients.T, data)
        return out

    def paired(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return the values at (xᵢ, tᵢ), shape (n,)."""
        index, space = self.system.space_of(jet.field)
        terms = [Term(jet.field, Derivative(jet.alpha, jet.laps))]
        out = np.empty(len(x))
        for part in _blocks(len(x), space.network.size):
            distinct, inverse = np.unique(times[part], return_inverse=True)
            c = self.coefficients(distinct, index, jet.time)[inverse]
            out[part] = np.einsum("ij,ij->i", space.network.operator(x[part], terms), c)
            lifted = self._lift_coefficients(distinct, index, jet.time)
            if lifted is not None:
                out[part] += np.einsum("ij,ij->i", space.network.lift_operator(x[part], terms), lifted[inverse])
        return out

    def _lift_coefficients(self, times: Array, space: int, order: int) -> Array | None:
        if not self.system.spaces[space].network.lift_size:
            return None
        return np.array([self.system.spaces[space].data(float(t), order) for t in times])


def _blocks(count: int, size: int) -> Iterator[slice]:
    """Cut many points into blocks whose basis values fit into memory."""
    rows = max(64, _BLOCK // max(1, size))
    return (slice(start, start + rows) for start in range(0, count, rows))


class Verdict(NamedTuple):
    """What became of a tolerance: ``"converged"`` or ``"reached"`` (the best that was found), and why no more.

    ``attempts`` are the solves on the way: width, estimated error (infinite where none was made) and seconds of each.
    """

    status: str
    tol: float
    reason: str
    attempts: tuple[tuple[int, float, float], ...]


class Solution:
    """u(x, t), with all spatial derivatives and time derivatives up to the order of the equation.

    Attributes
    ----------
    problem
        What was solved.
    pieces
        The windows of time, each with its own basis; mostly there is one.
    system, trajectory
        The semi-discrete system of the last window with all its matrices, and c(t) there.
    seconds
        Wall-clock seconds of each stage.
    error_estimate
        Estimated relative L² error by field and its course in time, if a tolerance was given or after
        :meth:`estimate_error`; None otherwise.
    verdict
        What became of the tolerance; None if none was given.
    witness
        The finer solution from which the error was estimated.
    subspace, reduced
        If u(x, t) = v(P x, t) was found with fewer coordinates: the directions P, and v. None otherwise.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0")
    >>> solution = fp.solve(problem)
    >>> float(solution(np.pi / 2, 1.0).round(8)), float(solution(np.pi / 2, 1.0, derivative="xx").round(6))
    (0.36787944, -0.367879)
    """

    def __init__(
        self,
        problem: Problem,
        pieces: Sequence[Piece],
        sampler: str = "",
        seconds: Mapping[str, float] | None = None,
        again: Callable[[Problem], Solution] | None = None,
    ) -> None:
        self.problem = problem
        self.pieces = tuple(pieces)
        self.sampler = sampler
        self.seconds = dict(seconds or {})
        self.rhs_evaluations = sum(piece.system.rhs_evaluations for piece in pieces)
        self.jacobian_evaluations = sum(piece.system.jacobian_evaluations for piece in pieces)
        self.error_estimate: ErrorEstimate | None = None
        self.verdict: Verdict | None = None
        self.witness: Solution | None = None
        self.solve_again = again
        self.counts: tuple[int, ...] = ()
        self.width = 0
        self.bytes = 0.0
        self.notes: tuple[str, ...] = ()
        self.subspace: Subspace | None = None
        self.reduced: Solution | None = None
        self.stored_report: Report | None = None

    @classmethod
    def of(cls, problem: Problem, system: System, trajectory: Trajectory) -> Solution:
        """Make a solution of a system and a trajectory that were computed by hand."""
        return cls(problem, [Piece(system, trajectory, *problem.time, integrator=trajectory.name)])

    def __repr__(self) -> str:
        return f"Solution({self.problem!r}, {self.system.size} coefficients, {sum(self.seconds.values()):.3g} s)"

    @property
    def system(self) -> System:
        """The semi-discrete system of the last window."""
        return self.pieces[-1].system

    @property
    def trajectory(self) -> Trajectory:
        """The coefficients in time in the last window."""
        return self.pieces[-1].trajectory

    @property
    def status(self) -> str:
        """``"converged"`` (within the tolerance), ``"reached"`` (the best found) or ``"unchecked"`` (no tolerance)."""
        return "unchecked" if self.verdict is None else self.verdict.status

    @property
    def collocation(self) -> Array:
        """The points of the first basis, shape (n, d)."""
        return np.asarray(self.pieces[0].system.points.x)

    @property
    def integrator(self) -> str:
        """What carried the coefficients through time."""
        return ", ".join(dict.fromkeys(piece.integrator for piece in self.pieces))

    # ---- evaluation ---------------------------------------------------------------------------

    def __call__(self, *where: Any, derivative: str = "", field: str | None = None) -> Array:
        """Evaluate a field or one of its derivatives.

        Parameters
        ----------
        *where
            The coordinates and t, as numbers or arrays that broadcast against each other:
            ``solution(x, t)``, ``solution(x, y, t)``, ``solution(x[:, None], t)`` for a grid. Or one
            array of points with shape (n, d) and t: ``solution(points, t)``.
        derivative
            Such as ``"x"``, ``"xx"``, ``"xy"``, ``"t"``, ``"xt"``; empty for the value.
        field
            Name of the field; needed for systems only.
        """
        name = self._field(field)
        jet = self._jet(derivative, name)
        coordinates, t = self._arrange(where)
        space = np.broadcast_shapes(*(c.shape for c in coordinates))
        shape = np.broadcast_shapes(space, t.shape)
        rank = len(shape)
        space = (1,) * (rank - len(space)) + space
        when = (1,) * (rank - t.ndim) + t.shape
        outer = all(a == 1 or b == 1 for a, b in zip(space, when, strict=True))
        full = space if outer else shape
        x = np.stack([np.broadcast_to(c, full).ravel() for c in coordinates], axis=1)
        self._check_inside(x, t)
        if 0 in shape:
            return np.empty(shape)
        if jet.order > 2:
            self._warn_if_noisy(x, float(np.ravel(t)[0]) if t.size else self.problem.time[0], jet)
        if not outer:
            return self._paired(x, np.broadcast_to(t, shape).ravel(), jet).reshape(shape)
        # no axis varies in both space and time: a matrix product instead of one product per value
        table = self._outer(x, t.ravel(), jet).reshape((*space, *when))
        interleaved = [axis for i in range(rank) for axis in (i, rank + i)]
        return table.transpose(interleaved).reshape(shape)

    def _warn_if_noisy(self, x: Array, t: float, jet: Jet) -> None:
        """Warn about derivatives of an order at which round-off in the coefficients dominates.

        The coefficients of the finest functions are taken to be wrong by a thousand units of round-off; their
        derivatives of high order are so large that this becomes visible.
        """
        piece = self.pieces[int(self._window(np.array([t]))[0])]
        index, space = piece.system.space_of(jet.field)
        few = self.problem.domain.wrap(x[:: max(1, len(x) // 16)])
        if not len(few):
            return
        rows = space.network.operator(few, [Term(jet.field, Derivative(jet.alpha, jet.laps))])
        c = piece.coefficients(np.array([t]), index)[0]
        noise = 1e3 * np.finfo(float).eps * float(np.linalg.norm(c) * np.max(np.linalg.norm(rows, axis=1)))
        size = float(np.max(np.abs(rows @ c)))
        if noise > 1e-2 * size:
            warn(
                f"the derivative of order {jet.order} is dominated by round-off: expect a relative error of "
                f"{noise / max(size, 1e-300):.1g}. A smaller width makes high derivatives more accurate."
            )

    def _field(self, field: str | None) -> str:
        fields = self.problem.fields
        if field is None:
            if len(fields) > 1:
                raise EvaluationError(f"the system has the fields {choices(fields)}; say field='{fields[0]}'.")
            return fields[0]
        if field not in fields:
            raise EvaluationError(f"unknown field '{field}'; the fields are {choices(fields)}.")
        return field

    def _jet(self, derivative: str, name: str) -> Jet:
        jet = self.problem.jets.parse_suffix(derivative)
        if jet is None:
            names = choices([*self.problem.jets.coordinates, "t"])
            raise EvaluationError(
                f"derivative='{derivative}' is not made of the coordinates {names}; write for example 'xx'."
            )
        order = self.problem.equation(name).order
        if jet.time > order:
            raise EvaluationError(
                f"derivative='{derivative}' has more time derivatives than the equation of '{name}', "
                f"which is of order {order}."
            )
        return Jet(name, jet.alpha, 0, jet.time)

    def _arrange(self, where: Sequence[Any]) -> tuple[list[Array], Array]:
        """Return the coordinate arrays and the times, and check that they broadcast."""
        d = self.problem.domain.dimension
        arrays = [np.asarray(w, dtype=float) for w in where]
        if len(arrays) == 2 and d > 1 and arrays[0].ndim == 2 and arrays[0].shape[1] == d:
            arrays = [*arrays[0].T, arrays[1]]
        if len(arrays) != d + 1:
            names = ", ".join((*self.problem.domain.coordinates, "t"))
            shapes = ", ".join(str(a.shape) for a in arrays)
            raise EvaluationError(
                f"expected solution({names}), or solution(points, t) with points of shape (n, {d}); "
                f"got {len(arrays)} argument(s) of shape {shapes}."
            )
        try:
            np.broadcast_shapes(*(a.shape for a in arrays))
        except ValueError:
            shapes = ", ".join(str(a.shape) for a in arrays)
            raise EvaluationError(
                f"the shapes {shapes} do not broadcast; for a grid write solution(x[:, None], t[None, :])."
            ) from None
        return arrays[:-1], arrays[-1]

    def _check_inside(self, x: Array, times: Array) -> None:
        start, end = self.problem.time
        slack = 1e-9 * (end - start)
        if times.size and (
            np.min(times) < start - slack or np.max(times) > end + slack or not np.all(np.isfinite(times))
        ):
            worst = float(np.ravel(times)[np.argmax(np.abs(np.ravel(times) - (start + end) / 2))])
            raise EvaluationError(f"t = {worst:g} lies outside the solved interval [{start:g}, {end:g}].")
        outside = ~(self.problem.domain.contains(x) & np.all(np.isfinite(x), axis=1))
        if np.any(outside):
            place = ", ".join(f"{c:g}" for c in x[np.argmax(outside)])
            raise EvaluationError(f"the point ({place}) lies outside the domain {self.problem.domain!r}.")

    def _window(self, times: Array) -> Array:
        """Return in which window each time lies."""
        starts = np.array([piece.start for piece in self.pieces])
        return np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(starts) - 1)

    def _outer(self, x: Array, times: Array, jet: Jet, interpolated: bool = False) -> Array:
        """Return the values at all points and all times, shape (n, m)."""
        x = self.problem.domain.wrap(x)
        if len(self.pieces) == 1:
            return self.pieces[0].outer(x, times, jet, interpolated)
        out, window = np.empty((len(x), len(times))), self._window(times)
        for k in np.unique(window):
            out[:, window == k] = self.pieces[k].outer(x, times[window == k], jet, interpolated)
        return out

    def _paired(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return the values at (xᵢ, tᵢ), shape (n,)."""
        x = self.problem.domain.wrap(x)
        out, window = np.empty(len(x)), self._window(times)
        for k in np.unique(window):
            out[window == k] = self.pieces[k].paired(x[window == k], times[window == k], jet)
        return out

    def jet_values(self, x: Array, times: Array, jet: Jet, *, interpolated: bool = False) -> Array:
        """Return one derivative at all points (n, d) and all times (m,), shape (n, m).

        ``interpolated`` takes the highest time derivative from the trajectory instead of the equation, so that
        errors of the time integration become visible.
        """
        return self._outer(x, np.asarray(times, dtype=float), jet, interpolated)

    def paired_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return one derivative at pairs of points (n, d) and times (n,), shape (n,)."""
        return self._paired(x, np.asarray(times, dtype=float), jet)

    # ---- conveniences -------------------------------------------------------------------------

    def grid(self, points: int = 101, times: int = 51, derivative: str = "") -> xarray.Dataset:
        """Evaluate all fields on a uniform grid, as an xarray dataset with named coordinates; NaN outside."""
        import xarray as xr

        domain = self.problem.domain
        axes = [np.linspace(a, b, points) for a, b in zip(domain.lower, domain.upper, strict=True)]
        t = np.linspace(*self.problem.time, times)
        mesh = np.meshgrid(*axes, indexing="ij")
        names = (*domain.coordinates, "t")
        places = np.stack([m.ravel() for m in mesh], axis=1)
        inside = domain.contains(places)
        table = {}
        for name in self.problem.fields:
            values = np.full((len(places), len(t)), np.nan)  # what lies outside has no value
            values[inside] = self(*(c[:, None] for c in places[inside].T), t, derivative=derivative, field=name)
            table[name] = (names, values.reshape(*mesh[0].shape, len(t)))
        return xr.Dataset(table, coords=dict(zip(names, (*axes, t), strict=True)))

    def error(
        self, field: str | None = None, points: int = 256, times: int = 100, at: Array | None = None
    ) -> dict[str, float]:
        """Return relative L² error and RMSE against ``problem.exact`` on a uniform space-time grid.

        Parameters
        ----------
        field
            Which field; may be left out if there is one.
        points, times
            Size of the grid; in several dimensions and on other shapes the points are random.
        at
            Points (n, d) to use instead.
        """
        name = self._field(field)
        if name not in self.problem.exact:
            raise EvaluationError("the problem has no exact solution; give Problem(…, exact=…).")
        x, t = unseen_points(self.problem, points, times)
        x = x if at is None else np.asarray(at, dtype=float).reshape(-1, self.problem.domain.dimension)
        exact = np.stack([self.problem.exact[name](x, float(s)) for s in t], axis=1)
        difference = self._outer(x, t, self._jet("", name)) - exact
        norm = float(np.linalg.norm(exact))
        return {
            "rel_l2": float(np.linalg.norm(difference)) / (norm or 1.0),
            "rmse": float(np.sqrt(np.mean(difference**2))),
        }

    def estimate_error(self) -> ErrorEstimate:
        """Estimate the relative L² error by a second solve with independent neurons and points, if not known yet."""
        if self.error_estimate is None:
            if self.solve_again is None:
                raise EvaluationError("a loaded solution can't be solved again; call estimate_error() before saving.")
            with warnings.catch_warnings():  # the first solve has warned already
                warnings.simplefilter("ignore", FrozenPinnWarning)
                try:
                    self.witness = self.solve_again(self.problem)
                except IntegrationError as error:
                    failed = str(error)
            if self.witness is None:
                self.error_estimate = ErrorEstimate.unknown(self.problem)
                warn(f"the error can't be estimated, because a second solve with other neurons failed: {failed}")
                return self.error_estimate
            self.error_estimate = compare(self, self.witness)
            if self.error_estimate.worst > 1e-2:
                warn(
                    f"the estimated relative error is {self.error_estimate.worst:.2g}: the solution is not resolved. "
                    "Use a larger width, or a shorter time if the dynamics is chaotic."
                )
        return self.error_estimate

    def error_at(self, *where: Any, field: str | None = None) -> Array:
        """Return the estimated absolute error at points and times, given as for evaluation.

        Estimates the error first if that has not been done.
        """
        name = self._field(field)
        self.estimate_error()
        if self.witness is None:
            raise EvaluationError(
                "the error at points is not known, because there is no second solution; the course in time is "
                "solution.error_estimate.at(t)."
            )
        coordinates, t = self._arrange(where)
        shape = np.broadcast_shapes(*(c.shape for c in coordinates), t.shape)
        x = np.stack([np.broadcast_to(c, shape).ravel() for c in coordinates], axis=1)
        times = np.broadcast_to(t, shape).ravel()
        self._check_inside(x, times)
        return pointwise(self, self.witness, x, times, name).reshape(shape)

    @cached_property
    def residuals(self) -> Residuals:
        """Residuals of equation, boundary and initial conditions at points that the solve never saw."""
        from frozenpinn.results.residuals import measure_residuals

        return measure_residuals(self)

    @property
    def report(self) -> Report:
        """Stages, sizes, residuals on points that the solve never saw, and the error if it is known."""
        from frozenpinn.results.report import make_report

        return make_report(self) if self.stored_report is None else self.stored_report

    def plot(self, file: str | None = None, field: str | None = None) -> Any:
        """Plot the solution (matplotlib); save it if a file name is given.

        Beyond two dimensions, a solution that depends on one or two directions is drawn over these.
        """
        from frozenpinn.results.plotting import plot_solution

        shown = self.reduced if self.reduced is not None and self.problem.domain.dimension > 2 else self
        return plot_solution(shown, file, field)

    def save(self, file: str) -> None:
        """Store the solution as arrays and JSON; :func:`frozenpinn.load` reads it back."""
        from frozenpinn.results.storage import save_solution

        save_solution(self, file)


def unseen_points(problem: Problem, points: int, times: int) -> tuple[Array, Array]:
    """Return uniform test points (random ones beyond two dimensions) and uniform times."""
    t = np.linspace(*problem.time, times)
    d = problem.domain.dimension
    if d == 1:
        return problem.domain.sample(points, "uniform").x, t
    if d == 2 and isinstance(problem.domain, Box):
        each = max(2, int(np.ceil(np.sqrt(points)))) * 2
        return problem.domain.sample([each, each], "uniform").x, t
    return problem.domain.sample(max(points, 1000), "random", 12345).x, t
