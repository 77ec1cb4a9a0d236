"""Scales from formulas: where equations and data vary fast, in space and time, read from their expressions.

Every function in an expression (a peak, a front, a step) is followed separately: cells of the domain are bisected until
bounds of its values (intervals.py) show that it varies little on each of them. What is narrow has narrow cells, however
little of the domain it takes up; samples could miss it, bounds can't. Where there are no bounds (Python functions), or
a feature moves through all of space and time, so that its cells are too many, some of them are followed.

Scales of Python functions: sampled along lines, and bisected where two samples differ much.

Nothing bounds what a Python function does between samples. So many are taken, half of them at random; where the values
of neighbours differ by a good part of the range, the place is bisected until the change is smooth, or a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from frozenpinn.analysis.intervals import Bounds, Cells, UnknownError
from frozenpinn.analysis.turning_points import Octave, TurningPoint, degenerate_ends, turning_points
from frozenpinn.errors import FrozenPinnError
from frozenpinn.geometry import Box, FlatSide
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import TIME
from frozenpinn.language.lexer import shortened
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem
from frozenpinn.tables import Table

Array = np.ndarray
NARROW = 2.0**-8  #: part of an axis below which something is called narrow
_FIRST = {1: 64, 2: 20, 3: 8, 4: 5}  # cells of each axis at the start, by the number of axes
_SHORTEST = 2.0**-40  # part of an axis down to which cells are halved: a jump is narrower
_CELLS, _AT_ONCE = 6000, 400  # at most in all, and followed from level to level
_TELLING = (sp.Function, sp.Pow, sp.Max, sp.Min, Relational)  # Abs, sign, Heaviside, Piecewise are functions
_PER_CELL = 2.5  # width of a Gaussian, in cells on which it varies by half of its range at most
END = "layer"  #: the kind of the outermost part of a degenerate end, behind which all is unknown if it is missed
LOOKS = 512  #: evenly spread samples along a line; as many are random


# ---- what is narrow -------------------------------------------------------------------------------


class Stretch(NamedTuple):
    """A part of an axis in which something varies over a width."""

    low: float
    high: float
    width: float

    @property
    def middle(self) -> float:
        """Half-way between its ends."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, eq=False)
class Feature:
    """A function in a formula that varies fast somewhere.

    Attributes
    ----------
    what, kind
        The function, and "peak", "front", "jump", "change", "turning point" or "layer".
    narrow
        Along which of the axes (coordinates, then time) it is narrow.
    low, high
        Cells that hold it, (n, d + 1).
    lasting
        Whether it belongs to equations or conditions, not to initial data alone.
    """

    what: str
    kind: str
    narrow: tuple[bool, ...]
    low: Array
    high: Array
    lasting: bool = True

    def stretches(self, axis: int) -> list[Stretch]:
        """Return where it is along an axis, neighbouring cells together."""
        if not self.narrow[axis]:
            return []
        cells = sorted(zip(self.low[:, axis].tolist(), self.high[:, axis].tolist(), strict=True))
        found: list[list[tuple[float, float]]] = []
        for a, b in cells:
            if found and a <= max(high for _, high in found[-1][-4:]) + 2 * _PER_CELL * (b - a):
                found[-1].append((a, b))
            else:
                found.append([(a, b)])
        return list(map(_stretch, found))

    def describe(self, names: tuple[str, ...]) -> str:
        """Say what it is, where, and how narrow."""
        texts = []
        for axis in (i for i, narrow in enumerate(self.narrow) if narrow):
            stretches = self.stretches(axis)
            first, width = stretches[0], min(s.width for s in stretches)
            if len(stretches) > 1:
                place = f"{len(stretches)} places of {names[axis]}, the first of them {first.middle:.6g}"
            elif first.high - first.low > 20 * first.width:
                place = f"{names[axis]} from {first.low:.4g} to {first.high:.4g}"
            else:
                place = f"{names[axis]} = {first.middle:.6g}"
            texts.append(place if self.kind == "jump" else f"{place} (width {width:.1g})")
        return f"a {self.kind} of {self.what} at {' and '.join(texts)}"


def _stretch(cells: list[tuple[float, float]]) -> Stretch:
    """Join neighbouring cells; those that are much longer than others only touch the feature."""
    shortest = min(b - a for a, b in cells)
    kept = [(a, b) for a, b in cells if b - a <= 4 * shortest]
    return Stretch(min(a for a, _ in kept), max(b for _, b in kept), _PER_CELL * shortest)


@dataclass(frozen=True, eq=False)
class FormulaScales:
    """What is narrow in the formulas of a problem.

    Attributes
    ----------
    features
        Functions that vary fast somewhere.
    breaks
        Times at which formulas have jumps or corners.
    undecided
        Functions whose values have no bounds.
    """

    features: tuple[Feature, ...] = ()
    breaks: tuple[float, ...] = ()
    undecided: tuple[str, ...] = ()

    def stretches(self, axis: int) -> list[Stretch]:
        """Return where something is narrow along an axis (time is the last), in order; they may overlap."""
        return sorted(s for f in self.features if f.kind != "jump" for s in f.stretches(axis))


NOTHING = FormulaScales()


@remembered
def formula_scales(problem: Problem) -> FormulaScales:
    """Find everything that is narrow in the formulas of a problem."""
    if problem.before is not None:  # known parts are narrow, but only at the very start, where little is left of them
        return formula_scales(problem.before)
    lasting = dict.fromkeys(_candidates(problem, _lasting(problem)))
    candidates = [*lasting, *(c for c in dict.fromkeys(_candidates(problem, _initial(problem))) if c not in lasting)]
    features, breaks = _of_functions(problem)
    if problem.is_static:
        features += map(partial(_turning, problem), turning_points(problem))
        features += map(partial(_at_end, problem), degenerate_ends(problem))
    if not candidates:
        return FormulaScales(tuple(features), tuple(sorted(breaks))) if features or breaks else NOTHING
    undecided = []
    axes = _Axes(problem)
    for node, kind in candidates:
        try:
            feature = axes.feature(node, kind)
        except (UnknownError, TypeError, ValueError, OverflowError):
            undecided.append(shortened(str(node)))
            continue
        feature = None if feature is None else _inside(problem, feature)
        if feature is None:
            continue
        if feature.kind == "jump":
            breaks.update(s.middle for s in feature.stretches(len(feature.narrow) - 1))
        else:
            features.append(replace(feature, lasting=(node, kind) in lasting))
    start, end = problem.time
    least = 1e-9 * (end - start)
    inner = sorted(t for t in breaks if start + least < t < end - least)
    return FormulaScales(tuple(features), tuple(inner), tuple(dict.fromkeys(undecided)))


def _turning(problem: Problem, point: TurningPoint) -> Feature:
    """Return the layer at a turning point as a feature."""
    cells, reach = 10, 2.0  # cells, over so many widths on both sides
    edges = point.place + point.width * np.linspace(-reach, reach, cells + 1)
    low = np.tile(np.append(problem.domain.lower, problem.time[0]).astype(float), (cells, 1))
    high = np.tile(np.append(problem.domain.upper, problem.time[1]).astype(float), (cells, 1))
    low[:, point.axis], high[:, point.axis] = edges[:-1], edges[1:]
    narrow = point.width <= NARROW * float(problem.domain.lengths[point.axis])
    flags = tuple(narrow and i == point.axis for i in range(low.shape[1]))
    return Feature(f"the velocity {shortened(point.velocity)}", "turning point", flags, low, high)


def _at_end(problem: Problem, octave: Octave) -> Feature:
    """Return a part of an axis beside a degenerate end as a feature."""
    cells = 4
    edges = np.linspace(octave.low, octave.high, cells + 1)
    low = np.tile(np.append(problem.domain.lower, problem.time[0]).astype(float), (cells, 1))
    high = np.tile(np.append(problem.domain.upper, problem.time[1]).astype(float), (cells, 1))
    low[:, octave.axis], high[:, octave.axis] = edges[:-1], edges[1:]
    flags = tuple(i == octave.axis for i in range(low.shape[1]))
    return Feature(octave.what, END if octave.is_last else "change", flags, low, high)


def _inside(problem: Problem, feature: Feature) -> Feature | None:
    """Return a feature without cells outside the domain; None if no cell is left."""
    if isinstance(problem.domain, Box):
        return feature
    d = problem.domain.dimension
    rng = np.random.default_rng(Seed.FORMULA_SCALES)
    tries = 6  # places of each cell at which the domain is looked for
    kept = np.zeros(len(feature.low), dtype=bool)
    for _ in range(tries):
        x = feature.low[:, :d] + (feature.high - feature.low)[:, :d] * rng.random((len(kept), d))
        kept |= problem.domain.contains(x)
    return replace(feature, low=feature.low[kept], high=feature.high[kept]) if np.any(kept) else None


def _of_functions(problem: Problem) -> tuple[list[Feature], set[float]]:
    """Return narrow features of Python functions, and the times at which they jump, or at which splines are joined."""
    features, breaks, d = list[Feature](), set[float](), problem.domain.dimension
    changes: dict[tuple[str, int, bool], list[Change]] = {}
    functions = list(_functions(problem))
    for function, lasting in functions:
        if lasting and isinstance(function.function, Table) and TIME in function.function.coordinates:
            breaks.update(map(float, function.function.joints(TIME)))  # where its slope jumps
    for change in function_changes(problem, functions) if functions else ():
        if change.is_jump and change.axis == d:
            breaks.add(float(change.low[-1] + change.high[-1]) / 2)
        elif not change.is_jump:
            changes.setdefault((change.what, change.axis, change.lasting), []).append(change)
    lengths = np.append(problem.domain.lengths, problem.time[1] - problem.time[0])
    for (what, axis, lasting), found in changes.items():
        low, high = np.stack([c.low for c in found]), np.stack([c.high for c in found])
        short = (high - low)[:, axis] <= NARROW * lengths[axis]
        if np.any(short):
            narrow = tuple(i == axis for i in range(d + 1))
            features.append(Feature(what, "change", narrow, low[short], high[short], lasting))
    return features, breaks


# ---- functions to follow-----------------------------------------------------------------------------


def _lasting(problem: Problem) -> Iterator[sp.Expr]:
    """Yield the formulas that hold all the time: coefficients, sources, nonlinear terms, boundary data."""
    for equation in problem.equations:
        yield from (*equation.linear.values(), *equation.linear_in_time.values(), *equation.mass.values())
        yield from (equation.forcing, equation.nonlinear)
    yield from (source.strength for source in problem.points)
    yield from (law.residual.xreplace(_on_side(problem, law.side)) for law in problem.laws)
    for condition in problem.conditions:
        if condition.value.expression is not None:
            fixed = _on_side(problem, condition.side)
            yield condition.value.expression.xreplace(fixed)


def _initial(problem: Problem) -> Iterator[sp.Expr]:
    return (datum.expression for datum in problem.initial_data if datum.expression is not None)


def _on_side(problem: Problem, side: object) -> dict[sp.Symbol, sp.Expr]:
    """Return the coordinate that is fixed on a flat side."""
    if not isinstance(side, FlatSide):
        return {}
    ends = (problem.domain.lower, problem.domain.upper)
    return {problem.jets.x[side.axis]: sp.Float(float(ends[side.end][side.axis]))}


def _candidates(problem: Problem, expressions: Iterator[sp.Expr]) -> Iterator[tuple[sp.Expr, str]]:
    """Yield functions that may be narrow, and whether their values or their jumps count."""
    own = {*problem.jets.x, problem.jets.t}
    known = own | {sp.Symbol(name, real=True) for name in problem.parameters.symbols}
    seen: set[sp.Basic] = set()
    for expression in expressions:
        for node in sp.preorder_traversal(expression):
            if node in seen or not isinstance(node, _TELLING):
                continue
            seen.add(node)
            if isinstance(node, sp.Pow) and node.exp.is_Integer and node.exp.is_positive:
                continue
            if isinstance(node, Relational) and node.free_symbols <= known and node.free_symbols & own:
                yield sp.sign(node.lhs - node.rhs), "jump"
            elif isinstance(node, sp.Expr) and node.free_symbols <= known and node.free_symbols & own:
                yield from _looked_at(problem, node)


def _looked_at(problem: Problem, node: sp.Expr) -> Iterator[tuple[sp.Expr, str]]:
    if isinstance(node, AppliedUndef):
        return
    if isinstance(node, sp.sign | sp.Heaviside | sp.Abs):
        yield sp.sign(node.args[0]), "jump"
    elif isinstance(node, sp.Max | sp.Min):
        first, *others = node.args
        yield from ((sp.sign(first - other), "jump") for other in others)
    elif isinstance(node, sp.Pow):
        base, exponent = node.args
        if exponent.is_number and exponent.is_positive:
            if not exponent.is_integer:
                yield sp.sign(base), "jump"
        elif not base.is_number and (not _is_gentle(problem, base) or _nears_zero(problem, base)):
            yield node, "peak"
    elif isinstance(node, sp.sin | sp.cos):
        own, (argument,) = {*problem.jets.x, problem.jets.t}, node.args
        if any(sp.diff(argument, s).free_symbols & own for s in argument.free_symbols & own):
            yield node, "peak"  # waves of one length are no feature of a place
    elif isinstance(node, sp.Function) and not isinstance(node, sp.Piecewise) and not _is_gentle(problem, *node.args):
        yield node, "peak"


def _is_gentle(problem: Problem, argument: sp.Expr, *_: sp.Expr) -> bool:
    """Whether the argument of a function changes so little, or so evenly, that it can't be narrow in places."""
    gentle = 48.0  # change of a linear argument over the domain up to which functions are not narrow
    symbols = [s for s in (*problem.jets.x, problem.jets.t) if s in argument.free_symbols]
    slopes = [sp.diff(argument, s) for s in symbols]
    if not all(slope.is_number for slope in slopes):
        return False
    return sum(abs(float(k)) * length for k, length in zip(slopes, _lengths(problem, symbols), strict=True)) < gentle


def _nears_zero(problem: Problem, argument: sp.Expr) -> bool:
    """Whether a linear argument nearly vanishes at an edge of the domain, compared with its largest value."""
    symbols = [s for s in (*problem.jets.x, problem.jets.t) if s in argument.free_symbols]
    ends = [(float(a), float(b)) for a, b in zip(problem.domain.lower, problem.domain.upper, strict=True)]
    spans = dict(zip((*problem.jets.x, problem.jets.t), [*ends, problem.time], strict=True))
    first = argument.xreplace({s: sp.Float(spans[s][0]) for s in symbols})
    if not first.is_number:
        return False
    steps = [float(sp.diff(argument, s)) * (spans[s][1] - spans[s][0]) for s in symbols]
    low = float(first) + sum(min(step, 0.0) for step in steps)
    high = float(first) + sum(max(step, 0.0) for step in steps)
    return low * high > 0 and min(abs(low), abs(high)) < NARROW * max(abs(low), abs(high))


def _lengths(problem: Problem, symbols: list[sp.Symbol]) -> list[float]:
    every = dict(zip(problem.jets.x, map(float, problem.domain.lengths), strict=True))
    every[problem.jets.t] = problem.time[1] - problem.time[0]
    return [every[s] for s in symbols]


# ---- bisection --------------------------------------------------------------------------------------


class _Axes:
    """The domain and the time of a problem, cut into cells for one function after the other."""

    def __init__(self, problem: Problem) -> None:
        self.symbols = (*problem.jets.x, problem.jets.t)
        start, end = problem.time
        self.low = np.append(problem.domain.lower, start).astype(float)
        self.high = np.append(problem.domain.upper, end).astype(float)
        constants = problem.parameters.functions
        self.constants = {name: value for name, value in constants.items() if isinstance(value, float)}

    def feature(self, node: sp.Expr, kind: str) -> Feature | None:
        """Return where a function is narrow; None if it is nowhere."""
        own = [i for i, s in enumerate(self.symbols) if s in node.free_symbols]
        if kind == "jump" and own != [len(self.symbols) - 1]:
            return None  # a jump along places is found by others; here, times at which to stop are looked for
        if len(own) > max(_FIRST):
            raise UnknownError(str(node))
        root = self._root(node) if kind == "jump" else None
        if root is not None:
            inside = self.low[-1] < root < self.high[-1]
            low = high = np.full((int(inside), 1), root)
            shape = kind
        else:
            low, high, shape = self._bisected(node, own)
        if not len(low):
            return None
        d = len(self.symbols)
        lengths = (self.high - self.low)[own]
        narrow = np.any(high - low <= NARROW * lengths, axis=0)
        all_low, all_high = np.tile(self.low, (len(low), 1)), np.tile(self.high, (len(low), 1))
        all_low[:, own], all_high[:, own] = low, high
        flags = tuple(bool(i in own and narrow[own.index(i)]) for i in range(d))
        return Feature(shortened(str(node)), "jump" if kind == "jump" else shape, flags, all_low, all_high)

    def _root(self, node: sp.Expr) -> float | None:
        """Return where the argument of a step vanishes, if it changes evenly in time."""
        rate = sp.diff(node.args[0], self.symbols[-1])
        if not rate.is_number or rate == 0:
            return None
        return float(-node.args[0].xreplace({self.symbols[-1]: sp.Integer(0)}) / rate)

    def _bisected(self, node: sp.Expr, own: list[int]) -> tuple[Array, Array, str]:
        """Halve cells until the function varies little on each; return those that are narrow, and its shape."""
        varied_part = 0.5  # part of its range that a function may run through on a cell
        growth = 1e8  # range above which a function is not followed separately
        steep = 0.2  # part of its range through which it must run on a narrow cell to be followed there
        aside = 0.0917  # part of a cell by which edges are moved in search of jumps, which tend to be at round numbers
        symbols = tuple(self.symbols[i] for i in own)
        rng, lengths = np.random.default_rng(Seed.FORMULA_SCALES), (self.high - self.low)[own]
        low, high = _grid(self.low[own], self.high[own], _FIRST[len(own)], aside * isinstance(node, sp.sign))
        bounds, slopes, middles = self._enclosed(node, symbols, low, high)
        while True:
            most = _range(bounds)
            with np.errstate(invalid="ignore"):
                varies = bounds.high - bounds.low > varied_part * most
                # over a narrow part of the axes it must be able to run through a good part of its range
                varies &= ~(np.sum(2 * NARROW * lengths * slopes / (high - low), axis=1) <= steep * most)
            active = np.flatnonzero(varies & np.any(high - low > _SHORTEST * lengths, axis=1))
            if not len(active) or not most > 0 or len(low) >= _CELLS // len(own):
                break
            if len(active) > _AT_ONCE:
                active = np.sort(rng.choice(active, _AT_ONCE, replace=False))
            halves = _halved(low[active], high[active], slopes[active], lengths)
            new, new_slopes, new_middles = self._enclosed(node, symbols, *halves)
            rest = np.ones(len(low), dtype=bool)
            rest[active] = False
            low, high = np.concatenate([low[rest], halves[0]]), np.concatenate([high[rest], halves[1]])
            bounds = Bounds(*(np.concatenate([b[rest], n]) for b, n in zip(bounds, new, strict=True)))
            slopes = np.concatenate([slopes[rest], new_slopes])
            middles = np.concatenate([middles[rest], new_middles])
        kept = np.any(high - low <= NARROW * lengths, axis=1)
        if most > growth or not np.any(kept):  # what grows like this is divided by something, and followed with that
            return low[:0], high[:0], ""
        if isinstance(node, sp.sign):
            kept &= np.all(high - low <= 2 * _SHORTEST * lengths, axis=1)
        kept[kept] = self._varies(node, symbols, low[kept], high[kept], most)
        return low[kept], high[kept], _shape(low, middles, most)

    def _enclosed(
        self, node: sp.Expr, symbols: tuple[sp.Symbol, ...], low: Array, high: Array
    ) -> tuple[Bounds, Array, Array]:
        cells = Cells(symbols, (low + high).T / 2, (high - low).T / 2, self.constants)
        found = cells.enclose(node)
        return found.values, (found.slopes.size * cells.radii).T, found.middle

    def _varies(self, node: sp.Expr, symbols: tuple[sp.Symbol, ...], low: Array, high: Array, most: float) -> Array:
        """Whether the function really varies on cells, not its bounds alone."""
        values = []
        for share in np.linspace(0.0, 1.0, 9):
            places = low + share * (high - low)
            point = Cells(symbols, places.T, np.zeros_like(places.T), self.constants)
            values.append(point.enclose(node).middle)
        with np.errstate(invalid="ignore"):
            changes = np.ptp(np.stack(values), axis=0)
        return ~(changes <= 0.05 * most)


def _grid(low: Array, high: Array, count: int, aside: float) -> tuple[Array, Array]:
    """Return cells of equal size; inner edges may be moved aside by a part of it."""
    edges = [np.linspace(a, b, count + 1) for a, b in zip(low, high, strict=True)]
    for own in edges:
        own[1:-1] += aside * (own[1] - own[0])
    lows = np.meshgrid(*(e[:-1] for e in edges), indexing="ij")
    highs = np.meshgrid(*(e[1:] for e in edges), indexing="ij")
    return np.stack([g.ravel() for g in lows], axis=1), np.stack([g.ravel() for g in highs], axis=1)


def _range(bounds: Bounds) -> float:
    """Return the range of a function as far as it is bounded."""
    low, high = bounds.low[np.isfinite(bounds.low)], bounds.high[np.isfinite(bounds.high)]
    return float(np.max(high) - np.min(low)) if len(low) and len(high) else 0.0


def _halved(low: Array, high: Array, slopes: Array, lengths: Array) -> tuple[Array, Array]:
    """Halve cells along the axis along which a function changes most, or the longest if that is not known."""
    relative = (high - low) / lengths
    weight = np.where(np.isfinite(slopes), slopes, np.inf)
    axis = np.where(np.isinf(weight).any(axis=1), np.argmax(relative, axis=1), np.argmax(weight, axis=1))
    rows = np.arange(len(low))
    middle = (low[rows, axis] + high[rows, axis]) / 2
    first_high, second_low = high.copy(), low.copy()
    first_high[rows, axis] = second_low[rows, axis] = middle
    return np.concatenate([low, second_low]), np.concatenate([first_high, high])


def _shape(low: Array, middles: Array, most: float) -> str:
    """Distinguish a peak from a front by the values in two opposite corners."""
    ordered = middles[np.lexsort(low.T[::-1])]
    finite = ordered[np.isfinite(ordered)]
    return "front" if len(finite) and abs(float(finite[0]) - float(finite[-1])) > 0.5 * most else "peak"


# ---- Python functions -----------------------------------------------------------------------------


class Change(NamedTuple):
    """Where a function changes fast along an axis, between two places; a jump if they are next to each other."""

    what: str
    axis: int
    low: Array
    high: Array
    is_jump: bool
    lasting: bool


def function_changes(problem: Problem, functions: Sequence[tuple[UserFunction, bool]]) -> Iterator[Change]:
    """Yield fast changes of the Python functions of a problem along its axes."""
    for function, lasting in functions:
        for axis, name in enumerate((*problem.domain.coordinates, TIME)):
            if name in function.names and (lasting or name != TIME) and not _is_coarse(problem, function, axis):
                try:
                    yield from _along(problem, function, axis, lasting)
                except FrozenPinnError:  # the solve reports the error
                    return


def _functions(problem: Problem) -> Iterator[tuple[UserFunction, bool]]:
    """Yield the Python functions, and whether they belong to equations or conditions."""
    for given in problem.parameters.functions.values():
        if isinstance(given, UserFunction):
            yield given, True
    for condition in problem.conditions:
        if condition.value.function is not None:
            yield condition.value.function, True
    for datum in problem.initial_data:
        if datum.function is not None:
            yield datum.function, False


def _is_coarse(problem: Problem, function: UserFunction, axis: int) -> bool:
    """Whether a function is an array that can't change fast along an axis, or a derivative of one."""
    fine = 2.0**-9  # part of an axis: arrays with larger spacings have nothing narrow
    table = function.function
    if not isinstance(table, Table):
        return False
    lengths = (*problem.domain.lengths, problem.time[1] - problem.time[0])
    places = np.sort(table.coordinates[(*problem.domain.coordinates, TIME)[axis]])
    return any(table.orders) or table.is_scattered or float(np.min(np.diff(places))) > fine * float(lengths[axis])


def _along(problem: Problem, function: UserFunction, axis: int, lasting: bool) -> Iterator[Change]:
    most_places = 64  # places that are bisected on a line
    n_lines = 2  # along each axis
    change = 0.2  # part of its range by which a function may change from one sample to the next
    rng, d = np.random.default_rng(Seed.FORMULA_SCALES), problem.domain.dimension
    start, end = problem.time
    a, b = (start, end) if axis == d else (float(problem.domain.lower[axis]), float(problem.domain.upper[axis]))
    lines = 1 if function.names == ((*problem.domain.coordinates, TIME)[axis],) else n_lines
    for x in problem.domain.sample(lines, "random", rng).x:
        t = start + (end - start) * float(rng.random())
        values = _on_line(function, x, t, axis)
        looks = _looks(problem)
        even = a + (b - a) * (np.arange(looks) + 0.5) / looks
        places = np.unique(np.concatenate([even, a + (b - a) * rng.random(looks)]))
        found = values(places)
        most = float(np.ptp(found))
        steep = np.flatnonzero(np.abs(np.diff(found)) > change * most) if most > 0 else np.empty(0, dtype=int)
        for k in steep[:most_places]:
            low, high, is_jump = _bisected(values, places[k], places[k + 1], change * most, _SHORTEST * (b - a))
            cell_low, cell_high = np.append(problem.domain.lower, start), np.append(problem.domain.upper, end)
            cell_low[axis], cell_high[axis] = low, high
            yield Change(function.what, axis, cell_low.astype(float), cell_high.astype(float), is_jump, lasting)


def _looks(problem: Problem) -> int:
    """Return how many even samples a line has: two for the smallest scale that a user has named."""
    most_looks = 200_000
    return LOOKS if problem.smallest is None else int(min(max(2.0 / problem.smallest, LOOKS), most_looks))


def _on_line(function: UserFunction, x: Array, t: float, axis: int) -> Callable[[Array], Array]:
    """Return a function of places along an axis, through a point."""
    if axis == len(x):
        return lambda s: np.array([function.at(x[None, :], float(when))[0] for when in s])

    def along(s: Array) -> Array:
        places = np.tile(x, (len(s), 1))
        places[:, axis] = s
        return function.at(places, t)

    return along


def _bisected(
    values: Callable[[Array], Array], low: float, high: float, change: float, shortest: float
) -> tuple[float, float, bool]:
    """Halve an interval towards the larger change until it is a smooth part of it; whether it is a jump."""
    f_low, f_high = values(np.array([low, high]))
    while abs(f_high - f_low) > change:
        middle = (low + high) / 2
        if high - low < shortest or not low < middle < high:
            return low, high, True
        f_middle = float(values(np.array([middle]))[0])
        if abs(f_middle - f_low) > abs(f_high - f_middle):
            high, f_high = middle, f_middle
        else:
            low, f_low = middle, f_middle
    return low, high, False
