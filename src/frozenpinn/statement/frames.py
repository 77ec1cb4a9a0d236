"""Problems in polar, cylindrical and spherical coordinates: on which domain, in which coordinates they are solved.

Coordinates stay as they are where they are regular. Where the axis r = 0 belongs to the domain and nothing depends on
the angle around it, r² takes the place of r: smooth functions around an axis are smooth in r², and Δ has polynomial
coefficients there. Likewise the cosine of the polar angle takes the place of that angle. Whole disks, cylinders, balls
and shells are solved in Cartesian coordinates.

What a problem says about the axis of its coordinates: whether its solution can be smooth there.

A smooth function around an axis is even in r. So are the terms of an equation that has smooth solutions; an odd one,
such as exp(-r) or r, has a peak or a kink on the axis, and one that is infinite there makes solutions behave like
powers of r.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import sympy as sp

from frozenpinn.errors import FrozenPinnError, ProblemError, choices, suggestion
from frozenpinn.geometry import Ball, Box, Disk, Domain, Interval, Shell
from frozenpinn.language.chart import Curvilinear
from frozenpinn.language.functions import ChartedFunction
from frozenpinn.language.jets import NORMAL, TIME, JetSpace
from frozenpinn.language.program import Program
from frozenpinn.language.scope import CONSTANTS, FUNCTIONS, OPERATORS
from frozenpinn.runtime.arguments import shown
from frozenpinn.statement.conditions import Free

if TYPE_CHECKING:
    from frozenpinn.statement.data import Datum
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
NAMES: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    "polar": {1: ("r",), 2: ("r", "theta")},
    "cylindrical": {1: ("r",), 2: ("r", "z"), 3: ("r", "theta", "z")},
    "spherical": {1: ("r",), 2: ("r", "theta"), 3: ("r", "theta", "phi")},
}  #: the coordinates of each kind, by their number
_TURN, _CLOSE = 2 * np.pi, 1e-9
_CHANGE: Mapping[str, Callable[[Array], Array]] = {"same": lambda c: c, "square": np.square, "cosine": np.cos}
_ONE, _ZERO = sp.Integer(1), sp.Integer(0)
Coordinates: TypeAlias = str | Sequence[str]
_KINDS = ("cartesian", *NAMES)
_KNOWN = {  # names that can mean nothing else
    ("r", "theta"): "polar",
    ("r", "z"): "cylindrical",
    ("r", "theta", "z"): "cylindrical",
    ("r", "theta", "phi"): "spherical",
}
_ODD, _BEYOND = 1e-7, 50.0  # part of a value that may be odd, and growth of a value that counts as infinite


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates of a statement and of its solve.

    Attributes
    ----------
    kind, names
        What the coordinates of the statement are called.
    stated, domain
        The domain in coordinates of the statement, and the one that is solved on.
    inner
        What takes the place of each coordinate: "same", "square", "cosine"; or "cartesian" of all.
    sides
        Sides of the domain that is solved on by axis and end of the stated one; the axis r = 0 is none.
    """

    kind: str
    names: tuple[str, ...]
    stated: Domain
    domain: Domain
    inner: tuple[str, ...]
    sides: Mapping[tuple[int, int], str]

    @property
    def is_called(self) -> bool:
        """Whether solutions are called with these coordinates: not on shapes, which have Cartesian ones."""
        return isinstance(self.stated, Box)

    @property
    def is_cartesian(self) -> bool:
        """Whether the problem is solved in Cartesian coordinates."""
        return self.inner == ("cartesian",)

    @property
    def axes(self) -> frozenset[str]:
        """Sides of the domain that is solved on where the axis is: no boundary, solutions are smooth there."""
        inside = isinstance(self.stated, Box) and not self.is_cartesian
        return frozenset({side.name for side in self.domain.sides} - set(self.sides.values()) if inside else ())

    # ---- coordinates ----------------------------------------------------------------------------

    def to_inner(self, *coordinates: Array) -> list[Array]:
        """Return the coordinates that are solved in."""
        if self.is_cartesian:
            return self._cartesian(*coordinates)
        return [_CHANGE[how](c) for how, c in zip(self.inner, coordinates, strict=True)]

    def _cartesian(self, r: Array, *more: Array) -> list[Array]:
        if self.kind != "spherical":
            theta, *z = more
            return [r * np.cos(theta), r * np.sin(theta), *z]
        theta, phi = (*more, np.zeros(())) if len(more) == 1 else more
        return [r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)]

    def off_axis(self, coordinates: Sequence[Array]) -> list[Array]:
        """Return coordinates slightly off the axis, where derivatives along them exist in Cartesian ones."""
        if not self.is_cartesian:
            return list(coordinates)
        r = np.maximum(coordinates[0], 1e-7 * float(np.max(np.abs(self.stated.upper))))
        angles = [np.clip(c, 1e-7, np.pi - 1e-7) if self.kind == "spherical" and i == 0 else c
                  for i, c in enumerate(coordinates[1:])]  # fmt: skip
        return [r, *angles]

    def chart(self, jets: JetSpace) -> Curvilinear:
        """Return how texts are read."""
        if self.is_cartesian:
            places, rows = _cartesian_rows(self.kind, jets, len(self.names))
            lengths = _lengths(self.kind, self.names, places)
            return Curvilinear(jets, self.kind, self.names, places, rows, lengths, sp.Mul(*lengths), None)
        places, slopes = [], []  # ξᵢ(xᵢ) and dxᵢ/dξᵢ
        for x, how in zip(jets.x, self.inner, strict=True):
            positive = sp.Symbol(x.name, real=True)
            places.append({"same": x, "square": sp.sqrt(positive), "cosine": sp.acos(x)}[how])
            slopes.append({"same": _ONE, "square": 2 * sp.sqrt(positive), "cosine": -sp.sqrt(1 - x**2)}[how])
        lengths = _lengths(self.kind, self.names, places)
        volume = _volume(self.kind, places)
        rows = [[s if i == j else _ZERO for j in range(len(slopes))] for i, s in enumerate(slopes)]
        squares = [sp.expand(h**2) / s**2 for h, s in zip(lengths, slopes, strict=True)]
        senses = [-1 if how == "cosine" else 1 for how in self.inner]
        inner_volume = sp.powsimp(volume / sp.Mul(*slopes, *senses))
        return Curvilinear(jets, self.kind, self.names, places, rows, lengths, volume, (squares, inner_volume), senses)

    def weight(self, jets: JetSpace) -> sp.Expr:
        """Return the volume element of the domain that is solved on, over whole turns that nothing depends on."""
        chart = self.chart(jets)
        if chart.inner is None:
            return _ONE
        turns = {
            ("spherical", 1): 4,
            ("spherical", 2): 2,
            ("polar", 1): 2,
            ("cylindrical", 1): 2,
            ("cylindrical", 2): 2,
        }
        factor = turns.get((self.kind, len(self.names)), 0)
        return chart.inner[1] * (factor * sp.pi if factor else _ONE)

    # ---- boundary -------------------------------------------------------------------------------

    def boundary(self, given: Any) -> Any:
        """Return the conditions by sides of the domain that is solved on; nothing is prescribed on the axis."""
        if not isinstance(self.stated, Box):
            return given
        if given is None and self.sides:
            names = [f"{self.names[axis]}{'-+'[end]}" for axis, end in self.sides]
            raise ProblemError(
                f"no boundary condition for the sides {choices(names)}; write boundary=Dirichlet(0) or a dict."
            )
        free = {name: Free() for name in sorted(self.axes)}
        if isinstance(given, Mapping):
            return {self._side(key): value for key, value in given.items()} | free
        return (dict.fromkeys(self.sides.values(), given) | free) if self.sides or free else given

    def _side(self, key: str) -> str:
        assert isinstance(self.stated, Box)
        side = self.stated.side(key)
        if (side.axis, side.end) not in self.sides:
            raise ProblemError(
                f"'{key}' is the axis of the coordinates and no boundary: solutions are smooth there; leave it out."
            )
        return self.sides[side.axis, side.end]


def make_frame(kind: str, names: Sequence[str] | None, domain: Domain) -> Frame:
    """Return how a problem in coordinates of some kind is solved on a domain that is given in them."""
    known = NAMES[kind]
    if not isinstance(domain, Box):
        return _on_shape(kind, names, domain)
    if domain.dimension not in known:
        raise ProblemError(
            f'coordinates="{kind}" are {" or ".join(", ".join(own) for own in known.values())}; the domain has '
            f"{domain.dimension} dimensions."
        )
    own = tuple(names) if names else known[domain.dimension]
    stated = cast(Box, _whole_turns(kind, domain).with_coordinates(own))
    low, high = stated.lower, stated.upper
    _check_ranges(kind, stated)
    d, solid = stated.dimension, low[0] == 0.0
    poles = kind == "spherical" and d > 1 and (low[1] < _CLOSE or high[1] > np.pi - _CLOSE)
    if d == 1 or (kind == "cylindrical" and d == 2):
        return _in_place(kind, own, stated, ("square" if solid else "same", *("same",) * (d - 1)))
    if kind == "spherical" and d == 2 and not solid:
        return _in_place(kind, own, stated, ("same", "cosine"))
    if not solid and not poles:
        return _in_place(kind, own, stated, ("same",) * d)
    return _whole(kind, own, stated)


def _on_shape(kind: str, names: Sequence[str] | None, domain: Domain) -> Frame:
    """Return a frame for a shape in Cartesian coordinates, whose texts are written in others."""
    wanted = 2 if kind == "polar" else 3
    if domain.dimension != wanted:
        raise ProblemError(f'coordinates="{kind}" on {domain!r}: it has {domain.dimension} dimensions, not {wanted}.')
    own = tuple(names) if names else NAMES[kind][wanted]
    return Frame(kind, own, domain, domain, ("cartesian",), {})


def _whole_turns(kind: str, domain: Box) -> Box:
    """Return a box with the angles periodic that make a whole turn."""
    around = {"polar": 1, "cylindrical": 1, "spherical": 2}[kind]
    if domain.dimension <= around or (kind == "cylindrical" and domain.dimension == 2):
        return domain
    if abs(domain.lengths[around] - _TURN) > _CLOSE:
        return domain
    return domain.with_periodic([around])


def _check_ranges(kind: str, stated: Box) -> None:
    names, low, high = stated.coordinates, stated.lower, stated.upper
    if low[0] < 0:
        raise ProblemError(f"'{names[0]}' runs from {low[0]:g}; a distance from the axis is not negative.")
    if stated.periodic[0]:
        raise ProblemError(f"'{names[0]}' is a distance and can't be periodic.")
    if kind == "spherical" and len(names) > 1 and (low[1] < -_CLOSE or high[1] > np.pi + _CLOSE):
        raise ProblemError(f"'{names[1]}' runs from {low[1]:g} to {high[1]:g}; the polar angle lies between 0 and pi.")
    around = {"polar": 1, "cylindrical": 1 if len(names) == 3 else 9, "spherical": 2}[kind]
    if len(names) > around and stated.lengths[around] > _TURN + _CLOSE:
        raise ProblemError(
            f"'{names[around]}' runs from {low[around]:g} to {high[around]:g}, more than a whole turn; 2*pi is one."
        )


def _in_place(kind: str, names: tuple[str, ...], stated: Box, inner: tuple[str, ...]) -> Frame:
    """Return a frame in the same coordinates, or squares and cosines of them."""
    ends = np.array([stated.lower, stated.upper])
    new = np.sort(np.stack([_CHANGE[how](ends[:, i]) for i, how in enumerate(inner)], axis=1), axis=0)
    new = np.where(np.abs(new) < 1e-15, 0.0, new)
    suffix = {"same": "", "square": "2", "cosine": ""}
    called = [
        f"cos{name}" if how == "cosine" else f"{name}{suffix[how]}" for name, how in zip(names, inner, strict=True)
    ]
    one = len(names) == 1
    box = Interval(float(new[0, 0]), float(new[1, 0])) if one else Box(new[0], new[1], stated.periodic)
    domain = cast(Box, box.with_coordinates(called))
    sides = {}
    for side in domain.sides:
        end = 1 - side.end if inner[side.axis] == "cosine" else side.end
        at = (stated.lower, stated.upper)[end][side.axis]
        pole = inner[side.axis] == "cosine" and min(at, np.pi - at) < _CLOSE
        if not pole and not (inner[side.axis] == "square" and side.end == 0):
            sides[side.axis, end] = side.name
    return Frame(kind, names, stated, domain, inner, sides)


def _whole(kind: str, names: tuple[str, ...], stated: Box) -> Frame:
    """Return a frame in Cartesian coordinates for what contains the axis: disk, cylinder, ball, shell."""
    low, high = stated.lower, stated.upper
    turn = kind == "spherical" and stated.dimension == 2
    turn = turn or bool(stated.periodic[2 if kind == "spherical" else 1])
    poles = kind != "spherical" or (low[1] < _CLOSE and high[1] > np.pi - _CLOSE)
    if not turn or not poles:
        raise ProblemError(
            f"the {'centre' if low[0] == 0 else 'axis'} of the {kind} coordinates is a corner of the domain "
            f"{stated!r}, where they are singular; start at '{names[0]}' > 0, take whole turns, or state the "
            "problem in Cartesian coordinates, for example on fp.Disk() & fp.Polygon(…)."
        )
    radius, sides = float(high[0]), {(0, 1): "boundary"}
    domain: Domain
    if kind == "polar":
        domain = Disk(radius=radius)
    elif kind == "cylindrical":
        from frozenpinn.geometry.rare.solids import Extruded

        domain = Extruded(Disk(radius=radius), float(low[2]), float(high[2]))
        sides |= {(2, end): domain.sides[1 + end].name for end in (0, 1)}
    elif low[0] == 0:
        domain = Ball([0.0, 0.0, 0.0], radius)
    else:
        domain, sides = Shell(float(low[0]), radius, [0.0, 0.0, 0.0]), {(0, 0): "inner", (0, 1): "outer"}
    return Frame(kind, names, stated, domain, ("cartesian",), sides)


# ---- formulas -------------------------------------------------------------------------------------


def _lengths(kind: str, names: Sequence[str], places: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Return the lengths of unit steps along the coordinates."""
    r = places[0]
    if kind == "spherical":
        return [_ONE, r, r * _sine(places)][: len(names)]
    return [_ONE, _ONE] if kind == "cylindrical" and len(names) == 2 else [_ONE, r, _ONE][: len(names)]


def _volume(kind: str, places: Sequence[sp.Expr]) -> sp.Expr:
    r = places[0]
    if kind == "spherical":
        return r**2 * (_sine(places) if len(places) > 1 else _ONE)
    return r


def _sine(places: Sequence[sp.Expr]) -> sp.Expr:
    """Return sin θ; of acos(m), √(1 − m²)."""
    return sp.sin(places[1]) if len(places) > 1 else _ONE


def _cartesian_rows(kind: str, jets: JetSpace, count: int) -> tuple[list[sp.Expr], list[list[sp.Expr]]]:
    """Return the coordinates as functions of Cartesian ones, and derivatives along them."""
    x, y, *rest = jets.x
    if kind != "spherical":
        r = sp.sqrt(x**2 + y**2)
        more = [_ZERO] * len(rest)
        rows = [[x / r, y / r, *more], [-y, x, *more], *([[_ZERO, _ZERO, _ONE]] if rest else [])]
        return [r, sp.atan2(y, x), *rest][:count], rows[:count]
    (z,) = rest
    rho, r = sp.sqrt(x**2 + y**2), sp.sqrt(x**2 + y**2 + z**2)
    rows = [[x / r, y / r, z / r], [x * z / rho, y * z / rho, -rho], [-y, x, _ZERO]]
    return [r, sp.atan2(rho, z), sp.atan2(y, x)][:count], rows[:count]


# ---- what a user writes ---------------------------------------------------------------------------


def read_coordinates(domain: Domain, coordinates: Coordinates | None) -> tuple[Domain, Frame | None]:
    """Return a domain whose coordinates have the given names, and a frame if they are not Cartesian."""
    if coordinates is None:
        return domain, None
    if not isinstance(coordinates, str | list | tuple):
        raise ProblemError(f'coordinates= is a kind such as "polar" or names such as ("s",), got {shown(coordinates)}.')
    words = (coordinates,) if isinstance(coordinates, str) else tuple(coordinates)
    kind, names = (words[0], words[1:]) if words and words[0] in _KINDS else (_KNOWN.get(words, "cartesian"), words)
    if words == ("r",):
        raise ProblemError(
            'coordinates=("r",) may be a distance from a centre in the plane or in space: write coordinates="polar" or '
            '"spherical"; for a Cartesian coordinate of this name write coordinates=("cartesian", "r").'
        )
    if isinstance(coordinates, str) and coordinates not in _KINDS and (close := suggestion(coordinates, _KINDS)):
        raise ProblemError(f"unknown coordinates {shown(coordinates)}; the kinds are {choices(_KINDS)}.{close}")
    for name in names:
        _check(name)
    if len(set(names)) < len(names):
        raise ProblemError(f"coordinates= names one of them twice: {', '.join(names)}.")
    if names and len(names) != domain.dimension:
        close = suggestion(str(names[0]), _KINDS) if len(names) == 1 else ""
        raise ProblemError(
            f"coordinates= names {len(names)} of them, {shown(list(names))}, and the domain has {domain.dimension} "
            f"dimension(s); the names are {', '.join(domain.coordinates)} if none are given, and the kinds are "
            f"{choices(_KINDS)}.{close}"
        )
    if kind == "cartesian":
        return (domain.with_coordinates(names) if names else domain), None
    frame = make_frame(kind, names or None, domain)
    return frame.stated, frame


def _check(name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d_][^\W_]*", name):
        raise ProblemError(f"a coordinate needs a plain name such as 's', without underscores; got {shown(name)}.")
    if name in (TIME, NORMAL) or name in FUNCTIONS or name in CONSTANTS or name in OPERATORS:
        use = {TIME: "time", NORMAL: "the outward normal"}.get(name, "a built-in name")
        raise ProblemError(f"'{name}' is {use} and can't be a coordinate; choose another name.")


# ---- smoothness on the axis -----------------------------------------------------------------------


def check_axis(problem: Problem) -> Iterator[str]:
    """Refuse coefficients that are infinite on the axis; yield what is to be said of terms that are not smooth."""
    frame = problem.frame
    if frame is None or not (frame.axes or frame.is_cartesian):
        return
    for equation in problem.equations:
        table = {problem.jets.name(jet): c for jet, c in (*equation.linear.items(), *equation.linear_in_time.items())}
        some = dict.fromkeys(problem.jets.jets_in(equation.nonlinear), sp.Rational(13, 10))
        for name, coefficient in {**table, str(equation.nonlinear): equation.nonlinear.xreplace(some)}.items():
            if _grows(coefficient, problem, frame):
                r = frame.names[0]
                raise ProblemError(
                    f"the coefficient of '{name}' in the equation of '{equation.field}' is infinite on the axis of the "
                    f"coordinates, so solutions behave like powers of {r} there. Substitute u = {r}*v, or another "
                    f"power, and write the equation of v; or start at {r} > 0."
                )
    terms = {f"the equation of '{e.field}'": e.right_side for e in problem.equations}
    terms |= {d.what: d.expression for d in problem.initial_data if d.expression is not None}
    odd = [what for what, expression in terms.items() if not frame.is_cartesian and _is_odd(expression, problem, frame)]
    odd += [d.what for d in problem.initial_data if not frame.is_cartesian and _function_is_odd(d, problem, frame)]
    for what in odd:
        yield (
            f"{what} is not even in the coordinates around the axis, so that the solution has a peak or a kink there: "
            f"its accuracy is limited, and so is the estimate of it. Write {frame.names[0]}**2 and the like where a "
            "smooth function is meant."
        )


def _grows(coefficient: sp.Expr, problem: Problem, frame: Frame) -> bool:
    """Whether a coefficient tends to infinity towards the axis."""
    distances = (1e-3, 1e-6)  # distances from the axis, of the whole
    if coefficient.is_number:
        return False
    size, sizes = np.asarray(problem.stated.upper, dtype=float), []
    for near in distances:
        middle = problem.domain.sample(1, "random", rng=0).x[0]
        if frame.is_cartesian:
            middle[:2] = near * float(np.max(np.abs(size))) * np.array([0.6, 0.8])
            if frame.kind == "spherical":
                middle[2] = near * float(np.max(np.abs(size))) if problem.stated.lower[0] == 0 else middle[2]
        elif frame.inner[0] == "square":
            middle[0] = (near * size[0]) ** 2
        else:
            middle[1] = np.cos(near) if "top" in frame.axes else -np.cos(near)
        with np.errstate(all="ignore"):
            sizes.append(abs(float(np.ravel(problem.compile([coefficient])(*middle[:, None], problem.time[0])[0])[0])))
    return bool(sizes[1] > _BEYOND * max(sizes[0], 1e-300)) or not all(map(np.isfinite, sizes))


def _is_odd(expression: sp.Expr, problem: Problem, frame: Frame) -> bool:
    """Whether an expression changes if the direction away from the axis is reversed."""
    jets = problem.jets
    own = sp.Symbol("away", positive=True)
    if frame.inner[0] == "square":
        turned = expression.xreplace({jets.x[0]: own**2})
    else:
        sine, m = sp.Symbol("away", positive=True), jets.x[1]
        roots = {p: sine ** (2 * p.exp) for p in expression.atoms(sp.Pow) if p.base == 1 - m**2}
        turned = expression.xreplace(roots).xreplace({sp.acos(m): sp.asin(sine)})
    if own not in turned.free_symbols:
        return False
    rng = np.random.default_rng(0)
    others = sorted(turned.free_symbols - {own}, key=str)
    size = float(problem.stated.upper[0]) if frame.inner[0] == "square" else 1.0
    places = [problem.domain.lower[jets.x.index(s)] + rng.random(9) * problem.domain.lengths[jets.x.index(s)]
              if s in jets.x else rng.normal(size=9) for s in others]  # fmt: skip
    away = size * rng.uniform(0.1, 0.9, 9)
    distance = sp.Symbol("distance", real=True)
    jumps = {jump: jump.xreplace({own: distance}) for jump in turned.atoms(sp.Heaviside)}  # on circles, not on the axis
    try:
        program = Program([turned.xreplace(jumps)], [own, distance, *others], problem.parameters.functions)
        with np.errstate(all="ignore"):
            here, there = (np.broadcast_to(program(sign * away, away, *places)[0], 9) for sign in (1.0, -1.0))
    except (FrozenPinnError, ValueError, TypeError, ArithmeticError):  # a Python function that knows no negative r
        return False
    return _differ(here, there)


def _function_is_odd(datum: Datum, problem: Problem, frame: Frame) -> bool:
    """Whether a Python function changes if the direction away from the axis is reversed, judged at sample points."""
    if datum.function is None or not isinstance(datum.function.function, ChartedFunction):
        return False
    x = problem.stated.sample(9, "random", rng=0).x
    turned, axis = x.copy(), 0 if frame.inner[0] == "square" else 1
    turned[:, axis] *= -1.0
    try:
        with np.errstate(all="ignore"):
            here, there = (datum.function.function.own.at(points, problem.time[0]) for points in (x, turned))
    except FrozenPinnError:
        return False
    return _differ(here, there)


def _differ(here: Array, there: Array) -> bool:
    known = np.isfinite(here) & np.isfinite(there)
    return bool(np.any(np.abs(here - there)[known] > _ODD * np.max(np.abs(here[known]), initial=1e-300)))
