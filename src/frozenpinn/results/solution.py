"""The solution: a function of space and time that can be evaluated and differentiated anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frozenpinn.analysis.subspace import Subspace
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.nonlocal_terms import quantity_values
from frozenpinn.errors import EvaluationError, choices, warn
from frozenpinn.geometry.points import grid_points
from frozenpinn.integrators.protocol import Trajectory, Work
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.output import animation, exporting
from frozenpinn.output.showing import Shown, size_of
from frozenpinn.results import integrals
from frozenpinn.results.error_estimate import ErrorEstimate, Verdict
from frozenpinn.results.evaluation import (
    arranged,
    arrangement,
    charted,
    check_grid_inside,
    check_inside,
    distance_nearby,
    exact_values,
    frame_of,
    relative_error,
    unseen_points,
    without_repetition,
)
from frozenpinn.results.expansion import Piece
from frozenpinn.results.expressions import Expression
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.arguments import reals, shown, spelled
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms import Recovered, Restriction, View

if TYPE_CHECKING:
    from frozenpinn.results.balance import Balance
    from frozenpinn.results.event import Moment
    from frozenpinn.results.integrals import ComplexNumber, Number
    from frozenpinn.results.quantity import Goal
    from frozenpinn.results.report import Report
    from frozenpinn.results.residuals import Residuals

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Shown):
    """u(x, t), with all spatial derivatives and time derivatives up to the order of the equation.

    A value: it never changes, it can be pickled and sent to another process, and a file gives back the same class.

    Attributes
    ----------
    problem
        What was solved.
    error_estimate
        Estimated relative L² error by field and its course in time, if a tolerance was given or after
        :func:`frozenpinn.estimate_error`; None otherwise.
    verdict
        What became of the tolerance; None if none was given.
    notes
        What else there is to say.
    decisions
        The transforms, enrichments, trials, fallbacks, routes and raised estimates that took part, with their reasons;
        ``Settings(without=(…))`` switches them off by name.
    seconds
        Wall-clock seconds of each stage.
    stopped
        When the condition held that the solve was to stop at; None if there was none.
    facts
        What is known of the solve of a static problem; None for others.
    witness
        The other solution from which the error was estimated: coarser than this one after a search for a tolerance,
        finer after :func:`frozenpinn.estimate_error` and where a width was given.
    reduced
        If u(x, t) = v(P x, t) was found with fewer coordinates, on the :attr:`subspace` P: v. None otherwise.
    provenance
        With which settings, seed and tolerances it was solved; None if it was read from a file or made by hand.
    pieces
        The windows of time, each with its own basis; mostly there is one.
    sampler, width, counts
        Name of the sampler, neurons (per axis of a product), and points.
    bytes, operations
        About how much memory and how many floating point operations the solve has taken.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0")
    >>> solution = fp.solve(problem)
    >>> float(solution(np.pi / 2, 1.0).round(8)), float(solution(np.pi / 2, 1.0, derivative="xx").round(6))
    (0.36787944, -0.367879)
    """

    problem: Problem
    pieces: tuple[Piece, ...]
    sampler: str = ""
    width: int | tuple[int, ...] = 0
    counts: tuple[int, ...] = ()
    bytes: float = 0.0
    operations: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    error_estimate: ErrorEstimate | None = None
    verdict: Verdict | None = None
    witness: Solution | None = None
    reduced: Solution | None = None
    provenance: object = None
    facts: StaticFacts | None = None
    stored_report: Report | None = None
    decisions: tuple[Decision, ...] = ()
    stopped: Goal | None = None

    @classmethod
    def of(cls, problem: Problem, system: Discretisation, trajectory: Trajectory) -> Solution:
        """Make a solution of a system and a trajectory that were computed by hand."""
        return cls(problem, (Piece.of(system, trajectory, integrator=trajectory.name),))

    def __repr__(self) -> str:
        known = [] if self.error_estimate is None else [f"{k} {v:.1e}" for k, v in self.error_estimate.items()]
        error = f", estimated error {', '.join(known)}" if known else ""
        return f"Solution({self.problem!r}, {self.status}{error}, {size_of(self)})"

    @property
    def system(self) -> Discretisation:
        """The discretisation of the last window, with all its matrices."""
        system = self.pieces[-1].system
        if system is None:
            raise EvaluationError("a solution that was read from a file has no matrices; solve the problem again.")
        return system

    @property
    def abscissa(self) -> float:
        """The largest real part of the eigenvalues of the linear part in the last window; not a number if not known."""
        system = self.pieces[-1].system
        return float("nan") if system is None else float(np.real(system.linear.abscissa))

    @property
    def subspace(self) -> Subspace | None:
        """The directions P if u(x, t) = v(P x, t) was found with fewer coordinates."""
        own = self.pieces[0].view(Restriction)
        return None if own is None else own.subspace

    def seen_through(self, view: View, problem: Problem, note: str = "") -> Solution:
        """Return the solution of a problem of which this one solves another form."""
        return replace(
            self,
            problem=problem,
            pieces=tuple(piece.seen_through(view) for piece in self.pieces),
            notes=(*self.notes, note) if note else self.notes,
            reduced=self if isinstance(view, Restriction) else self.reduced,
        )

    @property
    def trajectory(self) -> Trajectory:
        """The coefficients in time in the last window."""
        return self.pieces[-1].trajectory

    @property
    def status(self) -> str:
        """What became of the tolerance.

        ``"converged"``: the estimated error is within it. ``"reached"``: it is not, this is the best found. ``"error
        unknown"``: there was no estimate of the error. ``"unchecked"``: no tolerance was given.
        """
        return "unchecked" if self.verdict is None else self.verdict.status

    @property
    def event(self) -> Number | None:
        """When the solve stopped, with its error: ``solve(problem, stop="max(u) > 1")``; None if it did not."""
        return None if self.stopped is None else cast("Number", self.stopped.number)

    def at(self, t: float) -> Moment:
        """Return the solution at one time, which is called without it: ``solution.at(0.5)(x)``, ``.integral("u")``."""
        check_inside(self.problem, np.empty((0, self.problem.domain.dimension)), np.array([t], dtype=float))
        from frozenpinn.results.event import Moment

        return Moment(self, t)

    @property
    def quantity(self) -> Number | ComplexNumber | None:
        """The number that the solve was for, with its error: ``solve(problem, tol=…, quantity="mean(u)")``."""
        return None if self.verdict is None or self.verdict.goal is None else self.verdict.goal.number

    @property
    def collocation(self) -> Array:
        """The points of the first basis, shape (n, d)."""
        return np.array(self.pieces[0].expansions[0].basis.points.x)

    @property
    def integrator(self) -> str:
        """What carried the coefficients through time."""
        return ", ".join(dict.fromkeys(piece.integrator for piece in self.pieces))

    @property
    def work(self) -> Work:
        """Evaluations of right-hand sides and Jacobians in all windows."""
        return Work(*map(sum, zip(*(piece.trajectory.work for piece in self.pieces), strict=True)))

    # ---- evaluation ---------------------------------------------------------------------------

    def __call__(self, *where: Any, derivative: str = "", field: str | None = None, **named: Any) -> Array:
        """Evaluate a field, one of its derivatives, or an expression in them.

        Parameters
        ----------
        *where
            An expression, if it is not the field itself: ``solution("-k*u_x", x, t)``, ``solution("curl(U)", x, y)``,
            with the fields, their derivatives, the parameters and the functions of the language. Then the coordinates
            and t, as numbers or arrays that broadcast against each other:
            ``solution(x, t)``, ``solution(x, y, t)``, ``solution(x[:, None], t)`` for a grid. Or one
            array of points with shape (n, d) and t: ``solution(points, t)``. A static solution has no t.
        **named
            The same by name: ``solution(x=0.5, t=1)``, ``solution(points, t=1)``.
        derivative
            Such as ``"x"``, ``"xx"``, ``"xy"``, ``"t"``, ``"xt"``; empty for the value.
        field
            Name of the field; needed for systems only. Complex fields have complex values, and the components of a
            vector come first: ``solution(x, y, t, field="U")[0]``. Parts have names of their own: ``psi_re``,
            ``psi_im``, ``Ux``, ``Uy``.

        Notes
        -----
        Grids are evaluated axis by axis where the basis is a product, and very many points from polynomials on cells
        that are exact to the round-off of direct evaluation: a value may differ in its last digits from that of the
        same point among few others. The same call always gives the same bits.
        """
        if where and isinstance(where[0], str):
            if derivative or field is not None:
                raise EvaluationError(
                    f"'{where[0]}' names its fields and derivatives itself: leave field and derivative out."
                )
            expression = Expression.read(self.problem, where[0])
            return self._everywhere(
                where[1:], named, lambda c, t, own: expression.spread(self, c, t, own), expression.shape
            )
        name, composites, frame = self._field(field), self.problem.composites, frame_of(self.problem)
        if name in composites.composed:
            parts = [self(*where, derivative=derivative, field=part, **named) for part in composites.parts(name)]
            return composites.assembled(name, parts)
        jet = self._jet(derivative, name)
        if frame is None:
            return self._everywhere(where, named, lambda c, t, own: self._broadcast(c, t, own, jet))
        return self._everywhere(where, named, lambda c, t, _: charted(self, c, t, jet))

    def _everywhere(
        self,
        where: Sequence[Any],
        named: Mapping[str, Any],
        values: Callable[[list[Array], Array, tuple[int, ...]], Array],
        components: tuple[int, ...] = (),
    ) -> Array:
        """Evaluate at coordinates and times of any shapes that broadcast, given as arrays of the same rank."""
        coordinates, t = arranged(where, self.problem, named)
        shape = np.broadcast_shapes(*(c.shape for c in coordinates), t.shape)
        if 0 in shape:
            check_inside(self.problem, np.empty((0, len(coordinates))), t, self.problem.stated)
            return np.empty((*components, *shape))
        same_rank = [a.reshape((1,) * (len(shape) - a.ndim) + a.shape) for a in (*coordinates, t)]
        *coordinates, t = (without_repetition(a) for a in same_rank)
        own = np.broadcast_shapes(*(c.shape for c in coordinates), t.shape)
        found = values(coordinates, t, own)
        return found if own == shape else np.array(np.broadcast_to(found, (*components, *shape)))

    def _broadcast(self, coordinates: Sequence[Array], t: Array, shape: tuple[int, ...], jet: Jet) -> Array:
        """Evaluate at arrays of the same rank that broadcast to ``shape``."""
        if jet.field in self.problem.jets.quantities:
            return self._of_quantity(coordinates, t, shape, jet)
        several = sum(c.size > 1 for c in coordinates) > 1
        grid = arrangement([*(c.shape for c in coordinates), t.shape]) if several else None
        if grid is not None:
            return grid.laid_out(self._on_grid([c.ravel() for c in coordinates], t.ravel(), jet), shape)
        outer = arrangement([space := np.broadcast_shapes(*(c.shape for c in coordinates)), t.shape])
        columns = [np.broadcast_to(c, shape if outer is None else space).ravel() for c in coordinates]
        x = np.stack(columns).T if outer is None else np.stack(columns, axis=1)  # of pairs, columns are looked up
        check_inside(self.problem, x, t)
        self._warn_if_noisy(x, t, jet)
        if outer is None:
            return self.paired_values(x, np.broadcast_to(t, shape).ravel(), jet).reshape(shape)
        return outer.laid_out(self.jet_values(x, t.ravel(), jet), shape)  # matrix products: space and time are apart

    def _of_quantity(self, coordinates: Sequence[Array], t: Array, shape: tuple[int, ...], jet: Jet) -> Array:
        """Evaluate an integral or another nonlocal quantity, which needs the fields everywhere, time by time."""
        x = np.stack([np.broadcast_to(c, shape).ravel() for c in coordinates], axis=1)
        times, which = np.unique(np.broadcast_to(t, shape).ravel(), return_inverse=True)
        check_inside(self.problem, x, times)
        out = np.empty(len(x))
        for k in range(len(times)):
            out[which == k] = self.jet_values(x[which == k], times[k : k + 1], jet)[:, 0]
        return out.reshape(shape)

    def _on_grid(self, axes: Sequence[Array], times: Array, jet: Jet) -> Array:
        """Return the values on a tensor grid, shape (n₁, n₂, …, m)."""
        check_grid_inside(self.problem, axes, times)
        self._warn_if_noisy(np.stack([np.resize(a, max(map(len, axes))) for a in axes], axis=1), times, jet)
        return self.grid_values(axes, times, jet)

    def _warn_if_noisy(self, x: Array, times: Array, jet: Jet) -> None:
        """Warn about derivatives of an order at which round-off in the coefficients dominates.

        The coefficients of the finest functions are taken to be wrong by a thousand units of round-off.
        """
        if jet.order <= 2:
            return
        t = float(np.ravel(times)[0]) if times.size else self.problem.time[0]
        piece = self.pieces[int(self._window(np.array([t]))[0])]
        few = self.problem.domain.wrap(x[:: max(1, len(x) // 16)])
        worst = 0.0
        for request in piece.asked_of_basis(few, t, jet):
            index, expansion = piece.expansion_of(request.field)
            c = piece.coefficients(np.array([t]), index)[0]
            rows = expansion.basis.operator(request.places.x, request.terms)
            noise = 2e-13 * float(np.linalg.norm(c) * np.max(np.linalg.norm(rows, axis=1), initial=0.0))
            worst = max(worst, noise / max(float(np.max(np.abs(rows @ c), initial=0.0)), 1e-300))
        if worst > 1e-2:
            warn(
                f"the derivative of order {jet.order} is dominated by round-off: expect a relative error of "
                f"{worst:.1g}. A smaller width makes high derivatives more accurate."
            )

    def _field(self, field: str | None) -> str:
        fields = self.problem.composites.names
        if field is None:
            if len(fields) > 1:
                raise EvaluationError(f"the system has the fields {choices(fields)}; say field='{fields[0]}'.")
            return fields[0]
        found = self.problem.composites.known(field) if isinstance(field, str) else None
        if found is None:
            raise EvaluationError(f"unknown field {shown(field)}; the fields are {choices(fields)}.")
        return found

    def _jet(self, derivative: str, name: str) -> Jet:
        coordinates = self.problem.stated.coordinates
        jet = JetSpace(coordinates).parse_suffix(derivative) if isinstance(derivative, str) else None
        if jet is None:
            names = choices([*coordinates, "t"])
            raise EvaluationError(
                f"derivative={derivative!r} is not made of the coordinates {names}; write for example 'xx'."
            )
        recovered = self.pieces[0].view(Recovered)
        order = 1 if recovered is not None and name in recovered.fields else self.problem.equation(name).order
        if jet.time and self.problem.is_static:
            raise EvaluationError(f"derivative='{derivative}' is one in time, but the problem is static.")
        if jet.time > order:
            raise EvaluationError(
                f"derivative='{derivative}' has more time derivatives than the equation of '{name}', "
                f"which is of order {order}."
            )
        return Jet(name, jet.alpha, 0, jet.time)

    def _window(self, times: Array) -> Array:
        """Return in which window each time lies."""
        starts = np.array([piece.start for piece in self.pieces])
        return np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(starts) - 1)

    def jet_values(self, x: Array, times: Array, jet: Jet, *, interpolated: bool = False) -> Array:
        """Return one derivative at all points (n, d) and all times (m,), shape (n, m).

        ``interpolated`` takes the highest time derivative from the trajectory instead of the equation, so that
        errors of the time integration become visible.
        """
        x, times = self.problem.domain.wrap(x), np.asarray(times, dtype=float)
        if jet.field in self.problem.jets.quantities:
            return quantity_values(self.problem, self.jet_values, x, times, jet)
        if len(self.pieces) == 1:
            return self.pieces[0].outer(x, times, jet, interpolated)
        out, window = np.empty((len(x), len(times))), self._window(times)
        for k in np.unique(window):
            out[:, window == k] = self.pieces[k].outer(x, times[window == k], jet, interpolated)
        return out

    def is_separable(self, field: str) -> bool:
        """Whether a field consists of products of functions of one coordinate each."""
        return all(piece.is_separable(field) for piece in self.pieces)

    def grid_values(self, axes: Sequence[Array], times: Array, jet: Jet) -> Array:
        """Return one derivative on the grid of coordinates (n₁,), (n₂,), … and times (m,), shape (n₁, n₂, …, m)."""
        if not self.is_separable(jet.field):
            return self.jet_values(grid_points(axes), times, jet).reshape(*map(len, axes), len(times))
        axes = [self._wrapped(axis, x) for axis, x in enumerate(axes)]
        out, window = np.empty((*map(len, axes), len(times))), self._window(times)
        for k in np.unique(window):
            out[..., window == k] = self.pieces[k].on_grid(axes, times[window == k], jet)
        return out

    def _wrapped(self, axis: int, x: Array) -> Array:
        """Map coordinates along one axis into the domain, if it is periodic."""
        points = np.repeat(np.asarray(self.problem.domain.lower, dtype=float)[None], len(x), axis=0)
        points[:, axis] = x
        return self.problem.domain.wrap(points)[:, axis]

    def paired_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return one derivative at pairs of points (n, d) and times (n,), shape (n,)."""
        x, times = self.problem.domain.wrap(x), np.asarray(times, dtype=float)
        if len(self.pieces) == 1:
            return self.pieces[0].paired(x, times, jet)
        out, window = np.empty(len(x)), self._window(times)
        for k in np.unique(window):
            out[window == k] = self.pieces[k].paired(x[window == k], times[window == k], jet)
        return out

    # ---- conveniences -------------------------------------------------------------------------

    @spelled(EvaluationError)
    def error(
        self, field: str | None = None, points: int = 256, times: int = 100, at: Array | None = None
    ) -> dict[str, float]:
        """Return errors against ``problem.exact`` on a uniform space-time grid.

        ``"rmse"`` is their root mean square, ``"rel_l2"`` is relative to the L² norm of the field, and ``"relative"``
        to how much it varies, as tolerances and estimates are.

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
        x, t = unseen_points(self.problem, points, times)
        if at is not None:
            x = reals(at, "points are rows of real numbers", EvaluationError)
            x = x[:, None] if x.ndim == 1 and self.problem.domain.dimension == 1 else x
            check_inside(self.problem, x, t)
        parts = self.problem.composites.parts(name)
        exact = np.stack([exact_values(self.problem, part, x, t) for part in parts])
        found = np.stack([self.jet_values(x, t, self.problem.jets.field(part)) for part in parts])
        scales = {} if self.error_estimate is None else self.error_estimate.scales
        return relative_error(found, exact, scales.get(parts[0]))

    def error_at(self, *where: Any, field: str | None = None, **named: Any) -> Array:
        """Return the estimated absolute error at points and times, given as for evaluation.

        Two solutions cross each other in places without being right there, so what is taken is the root mean square of
        the distance from the witness over a small neighbourhood; if the witness is coarser, the part of it that is
        taken for the error at that time.
        """
        name = self._field(field)
        if self.witness is None:
            raise EvaluationError(
                "the error at points is not known, because there is no second solution; "
                + ("call fp.estimate_error(solution), and use what it returns."
                   if self.error_estimate is None
                   else "the course in time is solution.error_estimate.at(t).")
            )  # fmt: skip
        coordinates, t = arranged(where, self.problem, named)
        frame = frame_of(self.problem)
        coordinates = coordinates if frame is None else frame.to_inner(*coordinates)
        shape = np.broadcast_shapes(*(c.shape for c in coordinates), t.shape)
        x = np.stack([np.broadcast_to(c, shape).ravel() for c in coordinates], axis=1)
        times = np.broadcast_to(t, shape).ravel()
        check_inside(self.problem, x, times)
        squares = np.zeros(len(x))
        for own in self.problem.composites.parts(name):
            distance = distance_nearby(self, self.witness, x, times, self.problem.jets.field(own))
            part = 1.0 if self.error_estimate is None else self.error_estimate.part(times, own)
            squares += (part * distance) ** 2
        return np.sqrt(squares).reshape(shape)

    @cached_property
    def residuals(self) -> Residuals:
        """Residuals of equation, boundary and initial conditions at points that the solve never saw."""
        from frozenpinn.results.residuals import measure_residuals

        return measure_residuals(self)

    @cached_property
    def balances(self) -> dict[str, Balance]:
        """What is stored, flows in and is made of each field, and what is missing; where that can be told.

        Examples
        --------
        >>> import frozenpinn as fp
        >>> heated = fp.Problem("u_t = u_xx + x", fp.Interval(0, 1), (0, 1), "0", "u_n = 0")
        >>> balance = fp.solve(heated, tol=1e-6).balances["u"]
        >>> print(f"{balance.sources[-1]:.6f} {balance.stored[-1]:.6f}", balance.relative < 1e-6)
        0.500000 0.500000 True
        """
        from frozenpinn.results.balance import balances

        return balances(self)

    @property
    def report(self) -> Report:
        """Stages, sizes, residuals on points that the solve never saw, and the error if it is known."""
        from frozenpinn.results.report import make_report

        return make_report(self) if self.stored_report is None else self.stored_report

    # ---- tables, files, integrals, films: each in a module of its own ---------------------------

    save = exporting.save
    again = exporting.again
    grid = exporting.grid
    to_xarray = exporting.to_xarray
    to_netcdf = exporting.to_netcdf
    to_csv = exporting.to_csv
    to_npz = exporting.to_npz
    to_vtk = exporting.to_vtk
    integral = integrals.integral
    mean = integrals.mean
    animate = animation.animate
