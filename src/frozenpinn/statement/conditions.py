"""Boundary conditions: Dirichlet, Neumann, Robin, any text, periodicity, or nothing at all.

What is linear with coefficients in x becomes a list of :class:`LinearCondition`, Σ aⱼ(x)·jetⱼ = g(x, t) on one side:
the boundary layer needs to know no other kind. Everything else becomes a :class:`BoundaryLaw`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import FrozenPinnError, ProblemError, choices
from frozenpinn.geometry import BoundaryPoints, Box, Domain, FlatSide, Side
from frozenpinn.language.algebra import expanded
from frozenpinn.language.functions import Given, checked_values, place_of
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.parser import parse_sides
from frozenpinn.language.program import Program
from frozenpinn.runtime.arguments import shown, spelled
from frozenpinn.statement.composites import apart, flat
from frozenpinn.statement.data import Datum
from frozenpinn.statement.laws import BoundaryLaw
from frozenpinn.statement.parameters import Parameters

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain

Array = np.ndarray


@dataclass(frozen=True)
class Condition:
    """Base class of what may be written as a boundary condition; ``field=None`` means every field."""


@spelled(ProblemError)
@dataclass(frozen=True)
class Dirichlet(Condition):
    """u = value.

    >>> Dirichlet("sin(t)", field="u")
    Dirichlet(value='sin(t)', field='u')
    """

    value: Given = 0.0
    field: str | None = None


@spelled(ProblemError)
@dataclass(frozen=True)
class Neumann(Condition):
    """∂u/∂n = value, with the outward normal n.

    >>> Neumann(1.0)
    Neumann(value=1.0, field=None)
    """

    value: Given = 0.0
    field: str | None = None


@spelled(ProblemError)
@dataclass(frozen=True)
class Robin(Condition):
    """alpha·u + beta·∂u/∂n = value, with the outward normal n; alpha and beta may depend on x.

    >>> Robin(alpha=2.0, beta=1.0, value="cos(t)")  # 2 u + u_n = cos t
    Robin(alpha=2.0, beta=1.0, value='cos(t)', field=None)
    """

    alpha: Given
    beta: Given
    value: Given = 0.0
    field: str | None = None


@spelled(ProblemError)
@dataclass(frozen=True)
class Free(Condition):
    """Nothing is imposed, for example at an outflow.

    >>> import frozenpinn as fp
    >>> outflow = {"left": "u = sin(t)", "right": fp.Free()}
    >>> fp.Problem("u_t + u_x = 0", fp.Interval(0, 1), (0, 1), 0, outflow)
    Problem(u_t = -u_x on Interval([0, 1]), t in [0, 1])
    """

    field: str | None = None


@spelled(ProblemError)
@dataclass(frozen=True)
class Periodic(Condition):
    """The two sides of the axis are identified; the same as ``periodic=True`` in the domain.

    >>> import frozenpinn as fp
    >>> fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(2*pi*x)", fp.Periodic()).domain.periodic
    (True,)
    """


ConditionText: TypeAlias = str | Condition


Boundary: TypeAlias = ConditionText | Sequence[ConditionText] | Mapping[str, ConditionText | Sequence[ConditionText]]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class LinearCondition:
    """Σ coefficient(x, n)·jet = value(x, t) on one side of the domain, with the outward normal n."""

    side: Side
    jets: tuple[Jet, ...]
    coefficients: tuple[sp.Expr, ...]
    value: Datum
    text: str
    fields: tuple[str, ...]
    _program: Program

    def __init__(
        self, side: Side, terms: Mapping[Jet, sp.Expr], value: Datum, text: str, jets: JetSpace, parameters: Parameters
    ) -> None:
        coefficients = tuple(terms.values())
        vars(self).update(
            side=side,
            jets=tuple(terms),
            coefficients=coefficients,
            value=value,
            text=text,
            fields=tuple(dict.fromkeys(jet.field for jet in terms)),
            _program=Program(coefficients, [*jets.x, *normal_symbols(len(jets.x))], parameters.functions),
        )

    def terms_at(self, points: BoundaryPoints) -> list[tuple[Jet, Array | float]]:
        """Return every jet with its coefficient, a number where it is constant."""
        return list(zip(self.jets, self._program(*points.x.T, *points.normals.T), strict=True))

    def coefficients_at(self, points: BoundaryPoints) -> list[Array]:
        """Return one array of finite coefficients per jet."""
        x = points.x
        what = f"a coefficient of the boundary condition '{self.text}' on '{self.side.name}'"
        with np.errstate(all="ignore"):
            coefficients = self._program(*x.T, *points.normals.T)
            return [checked_values(c, len(x), what, place_of(x, float("nan"))) for c in coefficients]

    def __repr__(self) -> str:
        return f"LinearCondition({self.side.name}: {self.text})"


def _periodic_axes(boundary: Boundary | None, domain: Box) -> list[int]:
    """Return the axes that the conditions declare periodic."""
    if not isinstance(boundary, Mapping):
        return list(range(domain.dimension))
    sides = [domain.side(name) for name, condition in boundary.items() if isinstance(condition, Periodic)]
    for axis in {side.axis for side in sides}:
        if len({side.end for side in sides if side.axis == axis}) != 2:
            name = domain.coordinates[axis]
            raise ProblemError(
                f"only one side of axis '{name}' is Periodic(); both must be, or write periodic=True in the domain."
            )
    return sorted({side.axis for side in sides})


def with_periodic_axes(domain: Domain, boundary: Boundary | None) -> tuple[Domain, Boundary | None]:
    """Return the domain with the axes that the conditions declare periodic, and the other conditions."""
    given = boundary.values() if isinstance(boundary, Mapping) else [boundary]
    if not any(isinstance(condition, Periodic) for condition in given):
        return domain, boundary
    if not isinstance(domain, Box):
        raise ProblemError(f"only boxes can be periodic, not {domain!r}; write another condition than Periodic().")
    axes = _periodic_axes(boundary, domain)
    if isinstance(boundary, Mapping):
        boundary = {k: v for k, v in boundary.items() if domain.side(k).axis not in axes}
    return domain.with_periodic(axes).with_coordinates(domain.coordinates), boundary


def read_boundary(
    boundary: Boundary | None,
    domain: Domain,
    fields: Sequence[str],
    jets: JetSpace,
    parameters: Parameters,
    local: Sequence[str] = (),
    transported: Sequence[str] = (),
) -> tuple[tuple[LinearCondition, ...], tuple[BoundaryLaw, ...]]:
    """Check that every side has its conditions exactly once and translate them all.

    ``local`` fields are not differentiated in space. They need no condition, and one for all fields is not meant for
    them. ``transported`` ones are differentiated once: they are free on a side where other fields have conditions, and
    the numbers of conditions are counted later.
    """
    if boundary is None and len(local) == len(fields):
        return (), ()
    given = _by_side(boundary, domain, parameters.composites.names[0])
    spread = [name for name in fields if name not in local] or list(fields)
    result: list[LinearCondition] = []
    laws: list[BoundaryLaw] = []
    for side in domain.sides:
        covered: set[str] = set()
        free: set[str] = set()
        before: list[LinearCondition] = []
        for condition in given[side.name]:
            conditions = _translate(condition, side, fields, spread, jets, parameters)
            if isinstance(condition, Free):
                free |= set(parameters.composites.parts(condition.field)) if condition.field else set(fields)
            for linear in conditions:
                covered |= set(linear.fields)
                if isinstance(linear, BoundaryLaw):
                    if any(law.side == side and law.residual == linear.residual for law in laws):
                        raise ProblemError(f"side '{side.name}' is declared twice: '{linear.text}' repeats it.")
                    laws.append(linear)
                    continue
                check_repetition(linear, before, domain)
                before.append(linear)
        for name in sorted(free & covered):
            raise ProblemError(f"'{name}' on side '{side.name}' is both Free() and given a condition.")
        result += before
        needless = {*local, *(transported if covered else ())}
        missing = [name for name in fields if name not in covered | free | needless]
        if missing:
            raise ProblemError(
                f"no condition for {choices(missing)} on side '{side.name}'; "
                f"write for example Dirichlet(0, field='{missing[0]}'), or Free('{missing[0]}') if nothing holds there."
            )
    return tuple(result), tuple(laws)


def _by_side(boundary: Boundary | None, domain: Domain, field: str) -> dict[str, list[ConditionText]]:
    names = [side.name for side in domain.sides]
    if not names:
        empty = boundary is None or isinstance(boundary, Periodic) or (isinstance(boundary, Mapping) and not boundary)
        if not empty and not isinstance(boundary, Mapping):
            raise ProblemError(
                "all axes are periodic, so there is no side to put a boundary condition on; leave it out."
            )
        if isinstance(boundary, Mapping):
            for name in boundary:
                domain.side(name)  # says that the axis is periodic
        return {}
    if boundary is None:
        raise ProblemError(
            f"no boundary condition for the sides {choices(names)}; write boundary=Dirichlet(0), "
            f"boundary={{'{names[0]}': '{field} = 0', …}}, or make the domain periodic."
        )
    if not isinstance(boundary, Mapping):
        return {name: _as_list(boundary) for name in names}
    result: dict[str, list[ConditionText]] = {}
    written: dict[str, str] = {}
    for key, condition in boundary.items():
        side = domain.side(key)
        if side.name in result:
            raise ProblemError(f"side '{side.name}' is declared twice, as '{written[side.name]}' and as '{key}'.")
        result[side.name], written[side.name] = _as_list(condition), key
    missing = [name for name in names if name not in result]
    if missing:
        raise ProblemError(
            f"no boundary condition for the side(s) {choices(missing)}; "
            f"add '{missing[0]}': Dirichlet(0), or '{missing[0]}': Free() if nothing is imposed there."
        )
    return result


def _as_list(condition: ConditionText | Sequence[ConditionText]) -> list[ConditionText]:
    result: list[ConditionText] = []
    for item in condition if isinstance(condition, list | tuple) else [condition]:
        if not isinstance(item, str | Condition):
            raise ProblemError(
                "a boundary condition is Dirichlet, Neumann, Robin, Free, Periodic or text such as 'u_xx = 0'; "
                f"got {item!r}."
            )
        result.append(item)
    if not result:
        raise ProblemError("an empty list of boundary conditions; write Free() where nothing is imposed.")
    return result


def _translate(
    condition: ConditionText,
    side: Side,
    fields: Sequence[str],
    spread: Sequence[str],
    jets: JetSpace,
    parameters: Parameters,
) -> list[LinearCondition | BoundaryLaw]:
    if isinstance(condition, Periodic):
        raise ProblemError(f"side '{side.name}' is Periodic() in a list; write Periodic() alone for both sides.")
    if isinstance(condition, str):  # one condition for each real part of each component that it sets
        scope = replace(parameters.scope(jets, fields, normal=True), normal=outward(side, jets, parameters))
        parts = [expanded(part) for part in flat(parse_sides(condition, scope))]
        own = [part for part in parts if part != 0] or parts[:1]
        return [_from_residual(part, condition, side, fields, jets, parameters) for part in own]
    named, composites = getattr(condition, "field", None), parameters.composites
    known = [*composites.names, *fields]
    if named is not None and not (isinstance(named, str) and named in known):
        raise ProblemError(
            f"a condition names the field {shown(named)}; the fields are {choices(dict.fromkeys(known))}."
        )
    if isinstance(condition, Free):
        return []
    names = [named] if named else [name for name in composites.names if set(composites.parts(name)) & set(spread)]
    return [linear for name in names for linear in _from_objects(condition, name, side, jets, parameters)]


def _from_objects(
    condition: Condition, name: str, side: Side, jets: JetSpace, parameters: Parameters
) -> list[LinearCondition | BoundaryLaw]:
    """Translate a condition of one field, for each of its real parts."""
    composites = parameters.composites
    if name not in composites.composed:
        return [_from_object(condition, name, side, jets, parameters)]
    given = getattr(condition, "value", 0.0)
    parts = apart(given, name, composites, parameters.scope(jets), f"the boundary value on '{side.name}'")
    return [
        _from_object(replace(condition, value=value), part, side, jets, parameters)  # type: ignore[call-arg]
        for part, value in parts.items()
    ]


def _from_object(
    condition: Condition, name: str, side: Side, jets: JetSpace, parameters: Parameters
) -> LinearCondition | BoundaryLaw:
    scope = parameters.scope(jets)
    value = jets.field(name)
    normal = normal_terms(name, side, jets, parameters)
    what = f"the boundary value of {name} on '{side.name}'"
    terms: dict[Jet, sp.Expr] = {}
    if isinstance(condition, Dirichlet):
        terms, text = {value: sp.Integer(1)}, f"{name} = …"
    elif isinstance(condition, Neumann):
        terms, text = normal, f"{name}_n = …"
    elif isinstance(condition, Robin):
        alpha, beta = (
            Datum(c, scope, parameters.functions, what).expression for c in (condition.alpha, condition.beta)
        )
        if alpha is None or beta is None:
            raise ProblemError("alpha and beta of a Robin condition are numbers, text or SymPy, not Python functions.")
        if alpha == 0 and beta == 0:
            raise ProblemError(f"Robin(alpha=0, beta=0) on '{side.name}' says nothing; write Free().")
        terms = {jet: c for jet, c in {value: alpha, **{j: n * beta for j, n in normal.items()}}.items() if c != 0}
        text = f"{alpha}*{name} + {beta}*{name}_n = …"
    else:
        raise ProblemError(f"{condition!r} is not a boundary condition for one side.")
    given = condition.value
    datum = Datum(given, scope, parameters.functions, what)
    text = text.replace("…", str(given))
    if any(jets.t in c.free_symbols for c in terms.values()):
        if datum.expression is None:
            raise ProblemError(
                f"the boundary condition '{text}' on '{side.name}' has coefficients that depend on t, and a Python "
                "function on its right; give that as text or SymPy."
            )
        left = sp.Add(*(c * jets.symbol(jet) for jet, c in terms.items()))
        return _law(left - datum.expression, text, side, jets, parameters)
    return LinearCondition(side, terms, datum, text, jets, parameters)


def _law(residual: sp.Expr, text: str, side: Side, jets: JetSpace, parameters: Parameters) -> BoundaryLaw:
    """Return a condition that no fixed basis obeys, with normal derivatives along the axes."""
    table = {}
    for symbol, jet in jets.jets_in(residual).items():
        table[symbol] = sp.Add(*(f * jets.symbol(plain) for plain, f in without_normal(jet, side).items()))
    residual = residual.xreplace(table)
    fields = tuple(dict.fromkeys(jet.field for jet in jets.jets_in(residual).values()))
    return BoundaryLaw(side, residual, text, fields, jets, parameters, normal_symbols(len(jets.x)))


def _from_residual(
    residual: sp.Expr, text: str, side: Side, fields: Sequence[str], jets: JetSpace, parameters: Parameters
) -> LinearCondition | BoundaryLaw:
    symbols = jets.jets_in(residual)
    if not symbols:
        raise ProblemError(f"the boundary condition '{text}' contains none of the fields {choices(fields)}.")
    split = jets.affine(residual)
    if split is None or any(jet.time for jet in symbols.values()):
        return _law(residual, text, side, jets, parameters)
    on_curves = set(normal_symbols(len(jets.x))) & split[1].free_symbols  # data such as dn(g) need the normal
    if on_curves or any(jets.t in c.free_symbols for c in split[0].values()):
        return _law(residual, text, side, jets, parameters)
    terms: dict[Jet, sp.Expr] = {}
    for jet, coefficient in split[0].items():
        for plain, factor in without_normal(jet, side).items():
            terms[plain] = terms.get(plain, sp.Integer(0)) + factor * coefficient
    terms = {jet: c for jet, c in terms.items() if expanded(c) != 0}
    if not terms:
        raise ProblemError(f"the boundary condition '{text}' on '{side.name}' imposes nothing; write Free().")
    value = -split[1]
    datum = Datum(value, parameters.scope(jets), parameters.functions, f"the right-hand side of '{text}'")
    return LinearCondition(side, terms, datum, text, jets, parameters)


# ---- the outward normal ---------------------------------------------------------------------------


@lru_cache
def normal_symbols(dimension: int) -> tuple[sp.Symbol, ...]:
    """Return symbols for the components of the outward normal, the same in every process; no text can name them."""
    return tuple(sp.Dummy(f"n{i + 1}", dummy_index=i, real=True) for i in range(dimension))


def without_normal(jet: Jet, side: Side) -> dict[Jet, sp.Expr]:
    """Write normal derivatives as derivatives along the axes: Σ nᵢ ∂ᵢ; on the side of a box, ±∂ along one of them."""
    table: dict[Jet, sp.Expr] = {replace(jet, normal=0): sp.Integer(1)}
    for _ in range(jet.normal):
        new: dict[Jet, sp.Expr] = {}
        for plain, factor in table.items():
            for axis, component in _components(side, len(jet.alpha)):
                alpha = tuple(a + (i == axis) for i, a in enumerate(plain.alpha))
                shifted = replace(plain, alpha=alpha)
                new[shifted] = new.get(shifted, sp.Integer(0)) + component * factor
        table = new
    return table


def _components(side: Side, dimension: int) -> list[tuple[int, sp.Expr]]:
    """Return the components of the outward normal that are not zero everywhere on a side."""
    if isinstance(side, FlatSide):
        return [(side.axis, sp.Integer((-1, 1)[side.end]))]
    return list(enumerate(normal_symbols(dimension)))


def outward(side: Side, jets: JetSpace, parameters: Parameters) -> tuple[sp.Expr, ...]:
    """Return the components of the outward normal on a side, along the unit vectors of the calculus."""
    known = dict(_components(side, jets.dimension))
    if parameters.chart is not None:
        known = {axis: component * parameters.chart.senses[axis] for axis, component in known.items()}
    return tuple(known.get(axis, sp.Integer(0)) for axis in range(jets.dimension))


def normal_terms(name: str, side: Side, jets: JetSpace, parameters: Parameters) -> dict[Jet, sp.Expr]:
    """Return the derivative of a field along the outward normal, as coefficients of derivatives along the axes."""
    if parameters.chart is None:
        return without_normal(replace(jets.field(name), normal=1), side)
    scope = replace(parameters.scope(jets, [name], normal=True), normal=outward(side, jets, parameters))
    value = scope.lookup(f"{name}_n")
    split = jets.affine(expanded(value)) if isinstance(value, sp.Expr) else None
    assert split is not None
    return split[0]


# ---- conditions that say nothing new --------------------------------------------------------------


def check_repetition(condition: LinearCondition, before: Sequence[LinearCondition], domain: Domain) -> None:
    """Refuse a condition that adds nothing to the ones before it on the same side.

    Decided by the rank of the coefficients at many points, whatever way the conditions are written: one
    condition may hold on one part of a side and another one on the rest.
    """
    side, text = condition.side, condition.text
    x = domain.sample_side(side, 64, "random", rng=0)
    together = [*before, condition]
    columns = {jet: i for i, jet in enumerate(dict.fromkeys(jet for linear in together for jet in linear.jets))}
    matrices = np.zeros((len(x), len(together), len(columns)))
    for row, linear in enumerate(together):
        for jet, values in zip(linear.jets, linear.coefficients_at(x), strict=True):
            matrices[:, row, columns[jet]] = values
    sizes = np.maximum(np.max(np.abs(matrices), axis=2, keepdims=True), 1e-300)
    matrices /= sizes
    if not np.any(matrices[:, -1]):
        raise ProblemError(f"the boundary condition '{text}' on '{side.name}' imposes nothing; write Free().")
    if before and np.all(
        np.linalg.matrix_rank(matrices, tol=1e-12) == np.linalg.matrix_rank(matrices[:, :-1], tol=1e-12)
    ):
        names = " and ".join(f"'{name}'" for name in condition.fields)
        gap = _contradiction(together, matrices, sizes[:, :, 0], x.x)
        more = f" with another value: they contradict each other by {gap:.3g}. Keep one of them" if gap else ""
        raise ProblemError(f"side '{side.name}' is declared twice for {names}: '{text}' repeats a condition{more}.")


def _contradiction(together: Sequence[LinearCondition], matrices: Array, sizes: Array, x: Array) -> float:
    """Return by how much the last condition, a combination of the others on the left, differs from it on the right."""
    try:
        values = np.stack([c.value(x, 0.0) for c in together], axis=1) / sizes
    except FrozenPinnError:  # not known at this time: what repeats a condition is refused either way
        return 0.0
    gaps = [
        abs(value[-1] - np.linalg.lstsq(rows[:-1].T, rows[-1], rcond=1e-12)[0] @ value[:-1])
        for rows, value in zip(matrices, values, strict=True)
    ]
    worst = int(np.argmax(gaps))
    return float(gaps[worst] * sizes[worst, -1]) if gaps[worst] > 1e-9 * np.max(np.abs(values)) else 0.0
