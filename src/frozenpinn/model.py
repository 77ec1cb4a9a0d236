"""A problem on one network, ready to be solved for many values of its parameters, and differentiated by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from frozenpinn.assembly.collocation import Collocation, smallest_values
from frozenpinn.errors import EvaluationError, SettingsError, choices, silenced, suggestion
from frozenpinn.inverse.gradient import Counted, evolution_slopes, static_slopes
from frozenpinn.inverse.unknowns import Numbers, beyond_tangents
from frozenpinn.language.functions import real_number
from frozenpinn.results.integrals import ComplexNumber, Number
from frozenpinn.results.quantity import Goal, Quantity
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import shown, spelled
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.search.kind import Hints
from frozenpinn.search.settings import Settings, Task, Tolerances
from frozenpinn.search.single import solve_once
from frozenpinn.solve import kind_of, solve
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown
from frozenpinn.static.families import Pilot
from frozenpinn.static.newton import Found, newton
from frozenpinn.static.plan import static_plan
from frozenpinn.static.solve import made_solution, solve_static
from frozenpinn.static.start import SolutionStart

__all__ = ["Model", "Objective", "model"]
Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution of a model, and what of a static solve serves its tangents."""

    solution: Solution
    collocation: Collocation | None = None
    found: Found | None = None


class Model:
    """What :func:`model` returns. A value: calls do not change it.

    Attributes
    ----------
    problem
        With the values at which the network was chosen.
    names
        The parameters that are numbers.
    """

    def __init__(self, problem: Problem, task: Task) -> None:
        self.problem, self._task = problem, task
        self.names = tuple(problem.parameters.constants)
        if not self.names:
            functions = problem.given.get("parameters", {})
            those = f" ({choices(functions)}: functions, or text)" if functions else ""
            raise SettingsError(
                f"the problem has no number among its parameters{those}, so that a model has no arguments; write for "
                "example parameters={'k': '1 + a*x', 'a': 0.5}."
            )
        self._known = Hints()
        if problem.is_static:
            self._prepare()
        else:
            self._known = solve_once(problem, task, self._known).hints

    def __repr__(self) -> str:
        return f"Model({', '.join(self.names)}: {self.problem!r})"

    @overload
    def __call__(self, quantity: None = None, /, **values: float) -> Solution: ...

    @overload
    def __call__(self, quantity: str, /, **values: float) -> Number: ...

    def __call__(self, quantity: str | None = None, /, **values: float) -> Solution | Number | ComplexNumber:
        """Solve the problem with other values of some parameters, on the same network.

        Parameters
        ----------
        quantity
            A number of the solution that is wanted instead of it, as in :func:`solve`: ``"integral(u)"``.
        **values
            Parameters that have other values than in the problem.
        """
        asked = None if quantity is None else Quantity.read(quantity, self.problem)
        solution = self._solved(values).solution
        return solution if asked is None else asked.of(solution).number

    def gradient(self, quantity: str, /, wrt: str | Sequence[str] | None = None, **values: float) -> tuple[Number, Any]:
        """Return a number of the solution, and its derivatives by parameters.

        They come from the equations of the derivatives of the solution, which share its factorisation where the problem
        is static, and are solved all at once where it has time. Where these equations are not known (nonlinear boundary
        conditions, coefficients that jump, nonlocal terms), they are differences of solutions.

        Parameters
        ----------
        quantity
            As in :func:`solve`: ``"integral(u)"``, ``"mean(u^2, where='x < 0.5', t=1)"``, ``"value(u_x, x=0.5)"``.
        wrt
            The parameters: a list of names for an array in their order, one name for a number; all of them if nothing
            is given.
        **values
            Parameters that have other values than in the problem.

        Examples
        --------
        >>> import frozenpinn as fp
        >>> problem = fp.Problem("k*u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"k": 1.0, "s": 12.0})
        >>> value, slope = fp.model(problem).gradient("integral(u)", wrt=("k", "s"))
        >>> float(round(value, 8)), slope.round(8)
        (1.0, array([-1.        ,  0.08333333]))
        """
        names = self._by(wrt)
        asked, solved = Quantity.read(quantity, self.problem), self._solved(values)
        goal = asked.of(solved.solution)
        if isinstance(goal.number, ComplexNumber):
            raise EvaluationError(f"'{quantity}' is a complex number; take its real part, re(…), or abs2(…).")
        slopes = self._slopes(asked, goal, solved, names, {**self.problem.parameters.constants, **values})
        return goal.number, float(slopes[0]) if isinstance(wrt, str) else slopes

    def objective(self, quantity: str, wrt: str | Sequence[str] | None = None) -> Objective:
        """Return a number and its derivatives as a function of an array, for ``scipy.optimize.minimize(…, jac=True)``.

        Parameters
        ----------
        quantity, wrt
            As for :meth:`gradient`.

        Examples
        --------
        >>> import frozenpinn as fp
        >>> from scipy.optimize import minimize
        >>> problem = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": 1.0})
        >>> missed = fp.model(problem).objective("value((u - 1)^2, x=0.5)")
        >>> float(minimize(missed, missed.start, jac=True).x[0].round(6))
        8.0
        """
        names = self._by(wrt)
        Quantity.read(quantity, self.problem)
        return Objective(self, quantity, names)

    def _by(self, wrt: Any) -> tuple[str, ...]:
        """Return the parameters that slopes are wanted by."""
        if wrt is None:
            return self.names
        names = (wrt,) if isinstance(wrt, str) else wrt
        if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
            raise SettingsError(f"wrt is a list of names of parameters, such as ('k', 'nu'); got {shown(wrt)}.")
        for name in names:
            self._check_name(name)
        if len(set(names)) < len(names):
            raise SettingsError(f"wrt={shown(wrt)} has a name twice.")
        return tuple(names)

    def _check_name(self, name: str) -> None:
        """Refuse parameters that are not there, and those that are functions."""
        if name in self.names:
            return
        known = f"the parameters that are numbers are {choices(self.names)}.{suggestion(name, self.names)}"
        if name in self.problem.given.get("parameters", {}):
            raise SettingsError(
                f"'{name}' is a function, and a model changes numbers: write it with numbers in it, such as "
                f"parameters={{'{name}': 'a*sin(pi*x)', 'a': 1.0}}; {known}"
            )
        raise SettingsError(f"there is no parameter '{name}'; {known}")

    def _solved(self, values: Mapping[str, Any]) -> Solved:
        for name, value in values.items():
            self._check_name(name)
            number = real_number(value)
            if number is None or not np.isfinite(number):
                raise SettingsError(f"a model takes numbers; '{name}' is {value!r}.")
        if self.problem.is_static:
            return self._static({name: float(value) for name, value in values.items()})
        return Solved(solve_once(self.problem.at(**values), self._task, self._known).solution)

    # ---- slopes ---------------------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> Numbers:
        """The parameters as symbols."""
        constants = self.problem.parameters.constants
        with silenced():
            return Numbers(self.problem.at(**{name: Unknown(value) for name, value in constants.items()}))

    def _slopes(
        self, asked: Quantity, goal: Goal, solved: Solved, names: Sequence[str], values: Mapping[str, float]
    ) -> Array:
        numbers = self._numbers
        if beyond_tangents(numbers.problem):
            return np.array([self._difference(asked, values, name) for name in names])
        directions = [numbers.directions[numbers.names.index(name)] for name in names]
        problem = numbers.at(np.array([values[name] for name in numbers.names], dtype=float))
        counted = Counted.of(problem, solved.solution, asked, goal)
        if solved.collocation is None:
            sizes = np.array([abs(values[name]) or 1.0 for name in names])
            return evolution_slopes(counted, directions, self._task.seed, sizes, goal.scale, asked.text)
        assert solved.found is not None
        return static_slopes(counted, solved.collocation, solved.found.state, solved.found.last, directions)

    def _difference(self, asked: Quantity, values: Mapping[str, float], name: str) -> float:
        """Return a slope by central differences of two steps, whose errors of second order cancel."""
        step = 1e-3 * (abs(values[name]) or 1.0)

        def slope(step: float) -> float:
            high, low = (self._solved({**values, name: values[name] + s}).solution for s in (step, -step))
            return float((asked.of(high).number - asked.of(low).number) / (2.0 * step))  # type: ignore[arg-type]

        return (4.0 * slope(step) - slope(2.0 * step)) / 3.0

    # ---- static problems: the same features and points, and the same factorisation where it serves ----------

    def _prepare(self) -> None:
        """Choose features and points, and factorise."""
        task = self._task
        with silenced():
            stated = self._numbers.at(self._numbers.start)
            earlier = solve_static(stated, task, None, Stopwatch(None))
        self._family = earlier.family
        self._plan = static_plan(stated, task).with_special(self._family.count, self._family.sites)
        self._points = self._plan.place_points()
        self._base = self._plan.collocation(self._family.layer(self._plan, self._points), self._points)
        rules = task.rules.static.newton
        self._found = newton(self._base, SolutionStart(earlier.solution.jet_values), rules)
        self._singular = smallest_values(self._base, self._found.last)

    def _static(self, values: dict[str, float]) -> Solved:
        numbers, old = self._numbers, self._found
        theta = np.array([values.get(name, start) for name, start in zip(numbers.names, numbers.start, strict=True)])
        collocation = self._base.of(numbers.at(theta), numbers.conditions_are_known)
        if numbers.is_affine:  # the same matrix
            left = collocation.residual(old.state, old.last.scales) - old.last.unreachable
            found = Found(old.state.moved(old.state.coefficients - old.last.factor.solve(left)), (), old.last)
            singular = self._singular
        else:
            found = newton(collocation, old.state, self._task.rules.static.newton)
            singular = smallest_values(collocation, found.last)
        plan = replace(self._plan, problem=numbers.stated(theta))
        pilot = Pilot(self._family, found, float("nan"))
        solution = made_solution(plan, pilot, found, self._points, singular, "a solution with other parameters")
        return Solved(solution, collocation, found)


class Objective:
    """What :meth:`Model.objective` returns.

    Attributes
    ----------
    names
        The parameters.
    start
        Their values in the problem, as an array.
    """

    def __init__(self, model: Model, quantity: str, names: tuple[str, ...]) -> None:
        self.model, self.quantity, self.names = model, quantity, names
        constants = model.problem.parameters.constants
        self.start = np.array([constants[name] for name in names], dtype=float)

    def __repr__(self) -> str:
        return f"Objective({self.quantity!r} by {', '.join(self.names)})"

    def __call__(self, x: Any) -> tuple[float, Array]:
        """Return the number and its derivatives at values of the parameters."""
        values = np.atleast_1d(np.asarray(x, dtype=float))
        if values.shape != self.start.shape:
            raise SettingsError(f"this is a function of {choices(self.names)}; got shape {values.shape}.")
        number, slopes = self.model.gradient(
            self.quantity, wrt=self.names, **dict(zip(self.names, values, strict=True))
        )
        return float(number), slopes


@spelled(SettingsError)
def model(problem: Problem, *, tol: float | None = None, seed: int = 0, settings: Settings | None = None) -> Model:
    """Return a problem as a function of the numbers among its parameters.

    Network, points and, where the parameters do not enter the matrix, its factorisation are made once. The solutions
    have no error estimate: :func:`estimate_error` makes one.

    Parameters
    ----------
    problem
        With numbers among its parameters.
    tol
        A tolerance that the network must meet at the values that the problem has; otherwise the default width.
    seed, settings
        As for :func:`solve`.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": 1.0})
    >>> bar = model(problem)
    >>> [round(float(bar(k=k)(0.5)), 6) for k in (0.5, 1.0, 2.0)]
    [0.25, 0.125, 0.0625]
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"model() takes a Problem, got {type(problem).__name__}.")
    if problem.parameters.inferred:
        raise SettingsError("the problem has unknowns; give them numbers with problem.at(…), or call infer(…).")
    settings = Settings() if settings is None else settings
    if tol is not None:
        width = solve(problem, tol=tol, seed=seed, settings=settings).width
        if not (problem.is_static and isinstance(width, tuple)):  # those of a product on a box
            settings = replace(settings, width=width)
    task = Task(settings, seed, Tolerances.of(None, settings.rtol, settings.rules.search), kind=kind_of(problem))
    return Model(problem, task)
