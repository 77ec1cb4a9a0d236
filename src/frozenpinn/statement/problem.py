"""The statement of a problem: equations, domain, time, initial and boundary data, and nothing numerical."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, Summarised, choices, warn
from frozenpinn.geometry import Domain
from frozenpinn.language.fluxes import taken_out
from frozenpinn.language.functions import Given
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.program import Program
from frozenpinn.language.quantities import FRACTIONAL
from frozenpinn.language.scope import same_name
from frozenpinn.runtime.arguments import reals, shown, spelled
from frozenpinn.runtime.paths import checked_picture
from frozenpinn.statement.breaks import interfaces_or_breaks
from frozenpinn.statement.composites import Composites, Vectors, data_by_field
from frozenpinn.statement.conditions import Boundary, LinearCondition, read_boundary, with_periodic_axes
from frozenpinn.statement.consistency import check_quantities, inconsistencies
from frozenpinn.statement.data import Datum, continued, probe_data
from frozenpinn.statement.eigenvalue import check_eigenproblem
from frozenpinn.statement.equation import (
    Equation,
    Equations,
    solve_for_time_derivatives,
    static_equations,
    without_poles,
)
from frozenpinn.statement.findings import SLIGHT
from frozenpinn.statement.interfaces import Interfaces
from frozenpinn.statement.laws import BoundaryLaw, check_law
from frozenpinn.statement.multipliers import LinearConstraint, multipliers
from frozenpinn.statement.parameters import Parameters, ParameterValue, check_count, check_known
from frozenpinn.statement.points import PointSource, taken_points
from frozenpinn.statement.resolution import resolve
from frozenpinn.statement.structure import Kind, kinds, mutually_determined
from frozenpinn.statement.tables import bind, tables_of, with_tables
from frozenpinn.statement.unknowns import with_named

if TYPE_CHECKING:
    from frozenpinn.statement.constraints import Constraint
    from frozenpinn.statement.frames import Coordinates, Frame
    from frozenpinn.statement.regions import Region

_STATIC = (0.0, 0.0)  # the time of a static problem
Data: TypeAlias = Given | Sequence[Given] | Mapping[str, Given]


_ELSEWHERE = {  # what other programs have an argument for
    "terminal": "For data at the end T of the time, replace t by T - t in all texts: these data are then initial ones.",
}
_ELSEWHERE["final"] = _ELSEWHERE["terminal"]


@spelled(ProblemError, _ELSEWHERE)
class Problem:
    """A PDE (or a system), time-dependent or static, with its domain, initial data and boundary conditions.

    A problem never changes: :meth:`at` and :meth:`during` return others, with other parameters and times.

    Parameters
    ----------
    equation
        Text (``"u_t + u*u_x = nu*u_xx"``) or SymPy; a list for systems; or a dict
        ``{"u": "lap(u) - u**3"}``, where a text without ``=`` is the right-hand side of ``u_t = …``. Without ``time``,
        the equations have no time derivatives, and a text without ``=`` means ``… = 0``.
    domain
        :class:`Interval`, :class:`Box`, :class:`Ball`, :class:`Polygon` or any other :class:`Domain`.
    time
        ``(start, end)``; left out for a static problem.
    initial
        Initial value: number, text, SymPy, a function of the coordinates, an array or :class:`Table`; for systems a
        list or a dict by field. A solution goes on from its end, ``(solution, t)`` from another time. Static problems
        have none, and fields without a time derivative need none: theirs is where a search for it starts.
    boundary
        One condition or a list of them for all sides, or a dict by side. Sides of periodic axes have none.
    initial_velocity
        ``u_t`` at the start, for equations of second order in time.
    parameters
        Names used in the texts: numbers, text, SymPy, Python functions of x and t, arrays, tables; or
        :class:`Eigenvalue`, :class:`Unknown` and :class:`UnknownField`.
    exact
        A known solution, for error measurement only; if symbolic, it is checked against the equation. A pressure, or
        another multiplier of a constraint, may be left out.
    constraint
        What makes the solution of a static problem unique if equation and conditions do not: ``"mean(u) = 0"`` or the
        value at a point, ``"u(0, 0) = 1"``; a list for several. Also other conditions at points, such as
        ``"w_xy(0, 0) = 0"`` at the free corner of a plate.
    complex
        Fields that are complex, such as ``("psi",)``; those with complex equations or data are found.
    vectors
        Fields that are vectors, such as ``("U",)`` or ``{"U": 3}``; those in div(U), dot(U, …), U[0] are found.
    coordinates
        Own names of the coordinates, such as ``("s",)``.
    regions
        Named parts of the domain, ``{"steel": "x < 0.5", "air": "rest"}``, or boxes and balls; parameters may have a
        value for each, ``{"k": {"steel": 50, "air": 0.02}}``.
    contact
        Contact resistance where coefficients jump: values differ there by as much times the flux.

    Examples
    --------
    >>> from frozenpinn import Interval
    >>> problem = Problem("u_t = k*u_xx", Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    >>> problem.fields, problem.equations[0].order
    (('u',), 1)
    >>> Problem("lap(u) = f", Interval(0, 1), boundary="u = 0", parameters={"f": "sin(pi*x)"}).is_static
    True
    """

    domain: Domain
    stated: Domain  # as it was given; ``domain`` is the one that is solved on, maybe in other coordinates
    frame: Frame | None
    time: tuple[float, float]
    jets: JetSpace
    fields: tuple[str, ...]
    composites: Composites
    parameters: Parameters
    equations: tuple[Equation, ...]
    conditions: tuple[LinearCondition, ...]
    laws: tuple[BoundaryLaw, ...]
    points: tuple[PointSource, ...]
    groups: tuple[tuple[str, ...], ...]
    initial: Mapping[str, Datum]
    initial_velocity: Mapping[str, Datum]
    guess: Mapping[str, Datum]  #: initial values given for fields without a time derivative: a start for nonlinear ones
    exact: Mapping[str, Datum]
    constraints: tuple[Constraint, ...]
    interfaces: Interfaces | None
    given: Mapping[str, Any]
    evolution: Problem
    kept: tuple[LinearConstraint, ...] = ()  # linear constraints that the fields keep, without their multipliers
    before: Problem | None = None  # the problem from whose solution known parts were subtracted
    known: Mapping[str, sp.Expr] = {}  # these known parts, by field
    smallest: float | None = None  # part of domain and time down to which Python functions are sampled

    def __init__(
        self,
        equation: Equations,
        domain: Domain,
        time: tuple[float, float] | None = None,
        initial: Data | None = None,
        boundary: Boundary | None = None,
        initial_velocity: Data | None = None,
        parameters: Mapping[str, ParameterValue] | None = None,
        exact: Data | None = None,
        constraint: str | Sequence[str] | None = None,
        coordinates: Coordinates | None = None,
        complex: Sequence[str] | str | None = None,
        vectors: Vectors | None = None,
        regions: Mapping[str, Region] | None = None,
        contact: float | None = None,
    ) -> None:
        if not isinstance(domain, Domain):
            raise ProblemError(f"domain must be Interval(a, b), Box([…], […]) or another shape, got {domain!r}.")
        if not isinstance(parameters, Mapping | None):
            raise ProblemError(f"parameters must be a dict such as {{'nu': 0.1}}, got {parameters!r}.")
        check_count(parameters or {})
        given = {
            "equation": _own(equation),
            "initial": _own(initial),
            "boundary": _own(boundary),
            "initial_velocity": _own(initial_velocity),
            "parameters": dict(parameters or {}),
            "exact": _own(exact),
            "constraint": _own(constraint),
            "coordinates": _own(coordinates),
            "complex": _own(complex),
            "vectors": _own(vectors),
            "regions": _own(regions),
            "contact": contact,
        }
        self._read(with_named(given), domain, time)
        findings = () if self.parameters.inferred else inconsistencies(self)  # starts need not be consistent
        with Summarised():
            for finding in findings:
                if finding.size > SLIGHT:  # the tolerance of a solve decides about others
                    warn(finding.text)
        if self.frame is not None:
            from frozenpinn.statement.frames import check_axis

            for text in check_axis(self):
                warn(text)

    def __repr__(self) -> str:
        when = "" if self.is_static else f", t in [{self.time[0]:g}, {self.time[1]:g}]"
        return f"Problem({'; '.join(stated_equations(self))} on {self.stated!r}{when})"

    def _repr_html_(self) -> str:
        from frozenpinn.statement.rich import problem_html

        return problem_html(self)

    def __setattr__(self, name: str, value: object = None) -> NoReturn:
        raise AttributeError(
            f"'{name}' can't be set, because problems never change. Make a new one: problem.at(nu=0.02) changes a "
            "parameter, problem.during((0, 2)) the time, and Problem(…) states anything else."
        )

    __delattr__ = __setattr__

    # ---- other problems made of this one, pictures and files ------------------------------------

    def at(self, /, **values: Given) -> Problem:
        """Return the same problem with other values of some parameters, as if it had been stated with them.

        Examples
        --------
        >>> from frozenpinn import Interval
        >>> problem = Problem("u_t = k*u_xx", Interval(0, 1), (0, 1), "k*cos(pi*x)", "u_n = 0", parameters={"k": 0.1})
        >>> print(problem.at(k=3).equations[0])
        u_t = 3*u_xx
        """
        given = self._stated()
        values = {same_name(name, given["parameters"]) or name: value for name, value in values.items()}
        check_known(values, given["parameters"])
        changed = {**given, "parameters": {**given["parameters"], **values}}
        other = Problem(domain=self.stated, time=None if self.is_static else self.time, **changed)
        return other.with_symbols(self.parameters.symbols) if self.parameters.symbols else other

    @spelled(ProblemError)
    def with_symbols(self, names: Sequence[str]) -> Problem:
        """Return the same problem with some constants left as symbols, so that one can differentiate by them.

        Everything evaluates to the same values as before, up to round-off.

        Examples
        --------
        >>> from frozenpinn import Interval
        >>> problem = Problem("u_t = k*u_xx", Interval(0, 1), (0, 1), "k*cos(pi*x)", "u_n = 0", parameters={"k": 0.1})
        >>> sp.diff(problem.with_symbols(["k"]).equations[0].right_side, sp.Symbol("k", real=True))
        u_xx
        """
        other = object.__new__(Problem)
        other._read(self._stated(), self.stated, None if self.is_static else self.time, names)
        return other

    @spelled(ProblemError)
    def during(self, time: tuple[float, float]) -> Problem:
        """Return the same problem on another span of time."""
        if self.is_static:
            raise ProblemError("a static problem has no time; during(…) is for equations with time derivatives.")
        time = read_span(time)
        for what, table in tables_of(self):
            bind(table, self.domain, time, what)
        return self.replaced(time=time)

    @spelled(ProblemError)
    def plot(self, file: str | None = None) -> Any:
        """Draw the domain with its regions and point sources, and the conditions on each side; return the figure."""
        from frozenpinn.statement.drawing import draw_problem

        if file is not None:
            checked_picture(file)
        return draw_problem(self, file)

    @spelled(ProblemError)
    def save(self, file: Any, *, overwrite: bool = False) -> None:
        """Write the problem as a TOML file, for :func:`read_problem` and ``frozenpinn solve``.

        Tables are written with their values. Problems with Python functions are refused.
        """
        from frozenpinn.statement.files import save_problem

        save_problem(self, file, overwrite)

    # ---- properties that the numerics asks for --------------------------------------------------

    def equation(self, field: str) -> Equation:
        """Return the equation of one field."""
        return self.equations[self.fields.index(field)]

    @property
    def is_static(self) -> bool:
        """Whether nothing depends on time; ``time`` is then (0, 0)."""
        return all(e.order == 0 for e in self.equations)

    @property
    def evolving(self) -> tuple[str, ...]:
        """The fields whose equations have a time derivative."""
        return tuple(e.field for e in self.equations if e.order)

    @property
    def determined(self) -> dict[str, Kind]:
        """The fields that equations without a time derivative determine beside evolving ones, and of which class.

        ``"pointwise"``, ``"elliptic"``, or the ``"multiplier"`` of a constraint, such as a pressure.

        Examples
        --------
        >>> from frozenpinn import Interval
        >>> equations = ["u_t = u_xx - w", "w + w**3 = u"]
        >>> Problem(equations, Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0").determined
        {'w': 'pointwise'}
        """
        return {name: kind for name, kind in kinds(self).items() if kind != "evolution"}

    @property
    def is_linear(self) -> bool:
        """Whether all equations and conditions are linear."""
        return all(e.is_linear for e in self.equations) and all(law.is_linear for law in self.laws)

    def spatial_order(self, field: str) -> int:
        """Return the highest spatial derivative of a field in any equation."""
        jets = [j for e in self.equations for j in (*self.jets.jets_in(e.right_side).values(), *e.mass)]
        hidden = [self.jets.quantities[jet.field] for jet in jets if jet.field in self.jets.quantities]
        inner = [(j, q.kind == FRACTIONAL) for q in hidden for j in self.jets.jets_in(q.inner).values()]
        orders = [j.order for j in jets if j.field == field]
        return max([*orders, *(j.order + 2 * acts for j, acts in inner if j.field == field)], default=0)

    def compile(self, expressions: Sequence[sp.Expr], jets: Sequence[Jet] = ()) -> Program:
        """Compile expressions in the coordinates, time and the given jets, in this order."""
        symbols = (*self.jets.x, self.jets.t, *(self.jets.symbol(jet) for jet in jets))
        return self.parameters.compiled(tuple(expressions), symbols)

    @property
    def initial_data(self) -> tuple[Datum, ...]:
        """Initial values and initial velocities of all fields, and where searches for others start."""
        return (*self.initial.values(), *self.initial_velocity.values(), *self.guess.values())

    def _stated(self) -> Mapping[str, Any]:
        if not self.given:
            raise ProblemError("a problem in other units has no text of its own; change the one that it was made of.")
        return self.given

    def replaced(self, **attributes: Any) -> Problem:
        """Return a problem with some other attributes, which are not checked."""
        other = object.__new__(Problem)
        vars(other).update(vars(self) | attributes)
        return other

    # ---- reading and checking -------------------------------------------------------------------

    def _read(
        self, given: Mapping[str, Any], domain: Domain, time: tuple[float, float] | None, symbols: Sequence[str] = ()
    ) -> None:
        """Read a statement part by part, each with what is known from those before it."""
        keep, static = vars(self).update, time is None
        frame, written = None, given["boundary"]
        if given.get("coordinates") is not None:
            from frozenpinn.statement.frames import read_coordinates

            domain, frame = read_coordinates(domain, given["coordinates"])
        inner, boundary = (domain, written) if frame is None else (frame.domain, frame.boundary(written))
        domain, boundary = with_periodic_axes(inner, boundary)
        keep(frame=frame, stated=domain if frame is None else frame.stated)
        span = None if time is None else read_span(time)
        given = with_tables({**given, "boundary": boundary}, domain if frame is None else self.stated, span)
        boundary = given["boundary"]
        keep(domain=domain, time=span or _STATIC, jets=JetSpace(domain.coordinates))
        known = given["parameters"]
        if given.get("regions") is not None or any(isinstance(value, Mapping) for value in known.values()):
            from frozenpinn.statement.regions import by_region, read_regions

            known = by_region(known, read_regions(given.get("regions"), domain, self.jets), self.jets)
        resolved = resolve({**given, "parameters": known}, domain, self.jets, span, symbols, frame)
        keep(composites=resolved.composites, fields=resolved.composites.real, parameters=resolved.parameters)
        residuals, fluxes = zip(*map(taken_out, resolved.residuals), strict=True)
        equations, points = taken_points(self._solved(residuals, static), self.jets, domain)
        keep(equations=equations, points=points)
        if self.jets.quantities:
            check_quantities(self)
        keep(interfaces=interfaces_or_breaks(self, residuals, fluxes, given.get("contact")))
        keeping = multipliers(self)  # of which no condition is asked
        local = [name for name in self.fields if not self.spatial_order(name) or name in keeping]
        transported = [name for name in self.fields if self.spatial_order(name) == 1]
        conditions, laws = read_boundary(boundary, domain, self.fields, self.jets, self.parameters, local, transported)
        for law in laws:
            implicit = [e.field for e in self.equations if e.mass]
            check_law(law, {e.field: e.order for e in self.equations}, static, implicit)
        keep(conditions=conditions, laws=laws)
        keep(groups=self.coupled_fields())
        keep(**self._read_start(given, static))
        keep(constraints=(*self.constraints, *(self._means_of(keeping) if static else ())))
        exact = given["exact"]
        asked = [name for name in self.fields if name not in keeping]
        keep(exact={} if exact is None else self._data(exact, "the exact solution", asked, keeping))
        probe_data(self)
        if self.parameters.unknown:
            check_eigenproblem(self)
        keep(
            given=given if frame is None else {**given, "boundary": written}
        )  # the last: data explain why they can't be pickled

    def _solved(self, residuals: Sequence[sp.Expr], static: bool) -> tuple[Equation, ...]:
        """Return the equations, solved for the highest time derivatives if there are any."""
        if static:
            if not self.parameters.unknown:
                residuals = [without_poles(residual, self.jets, self.domain) for residual in residuals]
            return tuple(static_equations(residuals, self.fields, self.jets))
        points = self.domain.sample(256, "random", rng=0).x
        return tuple(solve_for_time_derivatives(residuals, self.fields, self.jets, points))

    def _read_start(self, given: Mapping[str, Any], static: bool) -> dict[str, Any]:
        """Read initial data, or what makes a static solution unique."""
        constraints: tuple[Constraint, ...] = ()
        if given.get("constraint") is not None:
            from frozenpinn.statement.constraints import read_constraints

            scope = self.parameters.scope(self.jets)
            constraints = read_constraints(given["constraint"], self.composites, self.domain, scope, self.frame)
        if static:
            for name in ("initial", "initial_velocity"):
                if given[name] is not None:
                    raise ProblemError(
                        f"{name} is given, but no time: a static problem has no initial data. Write time=(0, 1) for an "
                        "evolution; what Newton's method starts from is solve(problem, start=…)."
                    )
            return {"initial": {}, "initial_velocity": {}, "guess": {}, "constraints": constraints}
        if any(c.field not in multipliers(self) for c in constraints):
            raise ProblemError("constraint= is for static problems; the initial data fix an evolution.")
        if given["initial"] is None:
            raise ProblemError("initial is missing: a problem with time=(start, end) needs an initial value.")
        second = tuple(e.field for e in self.equations if e.order == 2)
        initial, velocity = continued(given["initial"], self.fields, second)
        if given["initial_velocity"] is not None:
            velocity = given["initial_velocity"]
        data = self._data(
            initial, "the initial value", self.evolving, [n for n in self.fields if n not in self.evolving]
        )
        return {
            "initial": {name: data[name] for name in self.evolving},
            "guess": {name: datum for name, datum in data.items() if name not in self.evolving},
            "initial_velocity": self._read_velocity(velocity, second) if second or velocity is not None else {},
            "constraints": constraints,
        }

    def _means_of(self, keeping: Sequence[str]) -> Iterator[Constraint]:
        """Yield the means of multipliers that nothing else fixes: zero."""
        from frozenpinn.statement.constraints import Constraint

        fixed = {
            *(c.field for c in self.constraints if c.picks),
            *(name for condition in self.conditions for name in condition.fields),
            *(name for law in self.laws for name in law.fields),
        }
        for name in keeping:
            if name not in fixed:
                yield Constraint(name, None, 0.0, f"mean({name}) = 0", (0,) * self.jets.dimension)

    def coupled_fields(self) -> tuple[tuple[str, ...], ...]:
        """Group the fields that share a condition, a constraint or an implicit left-hand side: they need one basis."""
        groups = [{name} for name in self.fields]
        together = [set(condition.fields) for condition in self.conditions]
        moving = {e.field for e in self.equations if e.order}
        together += [{e.field, *(jet.field for jet in e.mass if jet.field in moving)} for e in self.equations]
        together += [set(constraint.fields) for constraint in self.kept]
        together += [set(group) for group in mutually_determined(self)]
        together += [] if self.interfaces is None else self.interfaces.groups()
        for fields in together:
            touched = [g for g in groups if g & fields]
            groups = [g for g in groups if g not in touched] + [set[str]().union(*touched)]
        for group in groups:
            if 0 < len(group & moving) < len(group):
                raise ProblemError(
                    f"a boundary condition couples {choices(group)}, of which {choices(group - moving)} has no time "
                    "derivative; write one for each of them, or one that is not linear with fixed coefficients."
                )
            if len({self.equation(name).order for name in group}) > 1:
                raise ProblemError(
                    f"a boundary condition or equation couples {choices(group)}, which have different time orders; "
                    "write the second-order one as a first-order system."
                )
        ordered = [tuple(name for name in self.fields if name in group) for group in groups]
        return tuple(sorted(ordered, key=lambda g: self.fields.index(g[0])))

    def read_data(self, given: Data, what: str) -> dict[str, Datum]:
        """Read functions of the coordinates, one for each field, given as initial values are."""
        return self._data(given, what, self.fields)

    def _data(self, given: Data, what: str, required: Sequence[str], welcome: Sequence[str] = ()) -> dict[str, Datum]:
        scope, functions = replace(self.parameters.scope(self.jets), static=self.is_static), self.parameters.functions
        table = data_by_field(given, what, required, self.composites, scope, welcome)
        return {name: Datum(value, scope, functions, f"{what} of {name}") for name, value in table.items()}

    def _read_velocity(self, given: Data | None, second: Sequence[str]) -> dict[str, Datum]:
        if given is None:
            if second:
                raise ProblemError(
                    f"{choices(second)} is of second order in time: give initial_velocity (u_t at the start), "
                    "for example initial_velocity=0."
                )
            return {}
        if not second:
            raise ProblemError(
                "initial_velocity is given, but no equation is of second order in time; "
                "leave it out, or write u_tt in the equation."
            )
        return self._data(given, "the initial velocity", required=second)


def _own(given: Any) -> Any:
    """Return a table or list that does not change when the user's own one does."""
    if isinstance(given, Mapping):
        return {key: _own(value) for key, value in given.items()}
    return list(map(_own, given)) if isinstance(given, list) else given


def read_span(time: Any) -> tuple[float, float]:
    """Return start and end of the time of a problem."""
    ends = reals(time, "time must be (start, end)", ProblemError)
    if ends.shape != (2,):
        raise ProblemError(f"time must be (start, end), got {shown(time)}.")
    start, end = map(float, ends)
    if not (np.isfinite(start) and np.isfinite(end) and end > start):
        raise ProblemError(f"time must run forward between finite values, got ({start:g}, {end:g}).")
    return start, end


def stated_equations(problem: Problem) -> tuple[str, ...]:
    """Return texts of the equations: as they were stated, where they are solved for other fields or coordinates.

    >>> import frozenpinn as fp
    >>> line = fp.Interval(0, 1)
    >>> stated_equations(fp.Problem("psi_t = I*psi_xx", line, (0, 1), "sin(pi*x)", "psi = 0"))
    ('psi_t = I*psi_xx',)
    >>> stated_equations(fp.Problem("u_t = k*u_xx", line, (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 2}))
    ('u_t = 2*u_xx',)
    """
    texts = stated_texts(problem)
    changed = problem.frame is not None or problem.composites.real != problem.composites.names
    return texts if changed and texts else tuple(str(equation) for equation in problem.equations)


def stated_texts(problem: Problem) -> tuple[str, ...]:
    """Return the equations as they were given; nothing if they were not given as texts."""
    stated = problem.given.get("equation") if problem.given else None
    if isinstance(stated, Mapping):
        stated = list(stated.values())
    parts = tuple(stated) if isinstance(stated, list | tuple) else (stated,)
    return parts if all(isinstance(part, str) for part in parts) else ()


def with_values(problem: Problem, values: Mapping[str, Any]) -> Problem:
    """Return a problem with other numbers of its symbols and other functions behind its names."""
    parameters = replace(problem.parameters, functions={**problem.parameters.functions, **values})

    def bound(datum: Datum) -> Datum:
        other = object.__new__(Datum)
        kept = ("what", "expression", "function", "_scope")
        vars(other).update({name: getattr(datum, name) for name in kept}, _functions=parameters.functions)
        return other

    def rebound(condition: LinearCondition) -> LinearCondition:
        terms = dict(zip(condition.jets, condition.coefficients, strict=True))
        return LinearCondition(condition.side, terms, bound(condition.value), condition.text, problem.jets, parameters)

    return problem.replaced(
        parameters=parameters,
        conditions=tuple(map(rebound, problem.conditions)),
        laws=tuple(replace(law, parameters=parameters) for law in problem.laws),
        initial={name: bound(datum) for name, datum in problem.initial.items()},
        initial_velocity={name: bound(datum) for name, datum in problem.initial_velocity.items()},
        guess={name: bound(datum) for name, datum in problem.guess.items()},
    )
