"""A problem on one network, ready to be solved for many values of its parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frozenpinn.assembly.collocation import smallest_values
from frozenpinn.errors import SettingsError, choices, silenced, suggestion
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.language.functions import real_number
from frozenpinn.results.solution import Solution
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

__all__ = ["Model", "model"]
Array = np.ndarray


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
            raise SettingsError("the problem has no number among its parameters: a model would have no arguments.")
        self._known = Hints()
        if problem.is_static:
            self._prepare()
        else:
            self._known = solve_once(problem, task, self._known).hints

    def __repr__(self) -> str:
        return f"Model({', '.join(self.names)}: {self.problem!r})"

    def __call__(self, /, **values: float) -> Solution:
        """Solve the problem with other values of some parameters, on the same network."""
        for name, value in values.items():
            if name not in self.names:
                known = f"the parameters that are numbers are {choices(self.names)}.{suggestion(name, self.names)}"
                raise SettingsError(f"'{name}' is not one of them: {known}")
            number = real_number(value)
            if number is None or not np.isfinite(number):
                raise SettingsError(f"a model takes numbers; '{name}' is {value!r}.")
        if self.problem.is_static:
            return self._static({name: float(value) for name, value in values.items()})
        return solve_once(self.problem.at(**values), self._task, self._known).solution

    # ---- static problems: the same features and points, and the same factorisation where it serves ----------

    def _prepare(self) -> None:
        """Choose features and points, and factorise."""
        constants, task = self.problem.parameters.constants, self._task
        with silenced():
            self._numbers = Numbers(self.problem.at(**{n: Unknown(v) for n, v in constants.items()}))
            stated = self._numbers.at(self._numbers.start)
            earlier = solve_static(stated, task, None, Stopwatch(None))
        self._family = earlier.family
        self._plan = static_plan(stated, task).with_special(self._family.count, self._family.sites)
        self._points = self._plan.place_points()
        self._base = self._plan.collocation(self._family.layer(self._plan, self._points), self._points)
        rules = task.rules.static.newton
        self._found = newton(self._base, SolutionStart(earlier.solution.jet_values), rules)
        self._singular = smallest_values(self._base, self._found.last)

    def _static(self, values: dict[str, float]) -> Solution:
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
        return made_solution(plan, pilot, found, self._points, singular, "a solution with other parameters")


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
