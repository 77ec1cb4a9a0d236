"""What a sweep is, as a value: from it follow all its runs, and by it a store knows to which sweep it belongs."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from frozenpinn.errors import EvaluationError, SettingsError, StorageError, choices, suggestion
from frozenpinn.runtime.arguments import between, is_number, is_whole, shown, spelled, unmasked
from frozenpinn.search.settings import Settings
from frozenpinn.statement.document import problem_to_dict
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
FORMAT = 1  #: of stores
INITIAL = "initial"  #: the name under which initial data are varied


@spelled(SettingsError)
@dataclass(frozen=True)
class Normal:
    """A normal distribution.

    >>> Normal(1, 0.1).at(0.5)
    1.0
    """

    mean: float
    std: float

    def __post_init__(self) -> None:
        _check_numbers(self, ("mean", "std"))
        if not self.std > 0:
            raise SettingsError(f"std of Normal is positive, got {shown(self.std)}.")

    def at(self, probability: float) -> float:
        """Return the value below which a random number lies with a probability."""
        from scipy.special import ndtri

        return float(self.mean + self.std * ndtri(np.clip(probability, 1e-15, 1 - 1e-15)))


@spelled(SettingsError)
@dataclass(frozen=True)
class Uniform:
    """A uniform distribution between two numbers.

    >>> Uniform(2, 4).at(0.25)
    2.5
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_numbers(self, ("low", "high"))
        if not self.low < self.high:
            raise SettingsError(f"Uniform(low, high) runs upwards, got ({self.low:g}, {self.high:g}).")

    def at(self, probability: float) -> float:
        """Return the value below which a random number lies with a probability."""
        return float(self.low + probability * (self.high - self.low))


@spelled(SettingsError)
@dataclass(frozen=True)
class LogUniform:
    """A distribution between two positive numbers whose logarithm is uniform.

    >>> round(LogUniform(0.01, 1).at(0.5), 12)
    0.1
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_numbers(self, ("low", "high"))
        if not 0 < self.low < self.high:
            raise SettingsError(f"LogUniform(low, high) runs upwards from above 0, got ({self.low:g}, {self.high:g}).")

    def at(self, probability: float) -> float:
        """Return the value below which a random number lies with a probability."""
        return float(self.low * (self.high / self.low) ** probability)


@spelled(SettingsError)
@dataclass(frozen=True)
class GaussianField:
    """A random smooth function of the coordinates: a sum of waves with normal amplitudes.

    The variance of a wave with the wave number k is in proportion to exp(−(k·length)²/2), as for a squared-exponential
    covariance. In a sweep it stands for the initial value, ``{"initial": GaussianField(0.2)}``, or for a parameter.

    Parameters
    ----------
    length
        Length of correlation.
    std
        Standard deviation, about: the mean square over the domain is ``std**2`` on average.
    mean
        What is added.
    boundary
        ``"zero"`` (waves that vanish on the bounding box), ``"free"`` (their normal derivative does) or
        ``"periodic"``.
    modes
        Waves along each axis, at most.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> drawn = fp.sweeps.GaussianField(length=0.2)
    >>> fp.sweep(rod, {"initial": drawn}, samples=3, tol=1e-3, points=5, times=[0, 0.1]).u.shape
    (3, 5, 2)
    """

    length: float
    std: float = 1.0
    mean: float = 0.0
    boundary: str = "zero"
    modes: int = 16

    def __post_init__(self) -> None:
        _check_numbers(self, ("length", "std", "mean"))
        if not (self.length > 0 and self.std > 0):
            raise SettingsError("length and std of GaussianField are positive.")
        if self.boundary not in ("zero", "free", "periodic"):
            raise SettingsError(f"boundary is 'zero', 'free' or 'periodic', got {shown(self.boundary)}.")
        if not is_whole(self.modes) or not 1 <= self.modes <= 200:
            raise SettingsError(f"modes is a whole number from 1 to 200, got {shown(self.modes)}.")

    def draw(self, problem: Problem, rng: np.random.Generator) -> str:
        """Return one function as text."""
        domain = problem.stated
        if domain.dimension > 3:
            raise SettingsError(f"GaussianField is for up to three dimensions, the domain has {domain.dimension}.")
        axes = [
            self._axis(name, float(a), float(b))
            for name, a, b in zip(domain.coordinates, domain.lower, domain.upper, strict=True)
        ]
        waves = [w for w in product(*axes) if math.prod(v for _, v in w) > 1e-12]
        variances = np.array([math.prod(v for _, v in wave) for wave in waves])
        sizes = self.std * np.sqrt(variances / np.sum(variances) * 2.0**domain.dimension)
        amplitudes = sizes * rng.standard_normal(len(waves))
        terms = [
            "*".join([repr(float(a)), *(text for text, _ in wave if text != "1")])
            for a, wave in zip(amplitudes, waves, strict=True)
        ]
        return " + ".join(([repr(float(self.mean))] if self.mean else []) + terms).replace("+ -", "- ")

    def _axis(self, name: str, low: float, high: float) -> list[tuple[str, float]]:
        """Return waves along one axis and their variances."""
        step = (2.0 if self.boundary == "periodic" else 1.0) * math.pi / (high - low)
        place = name if low == 0.0 else f"({name} - {low!r})" if low > 0 else f"({name} + {-low!r})"
        waves = [("1", 0.5)] if self.boundary == "free" else []
        for k in range(1, self.modes + 1):
            variance = math.exp(-0.5 * (k * step * self.length) ** 2)
            if self.boundary != "free":
                waves.append((f"sin({k * step!r}*{place})", variance))
            if self.boundary != "zero":
                waves.append((f"cos({k * step!r}*{place})", variance))
        return waves


Distribution: TypeAlias = Normal | Uniform | LogUniform | GaussianField


Varied: TypeAlias = Mapping[str, Any]


Value: TypeAlias = float | str


@dataclass(frozen=True)
class Table:
    """All runs of a sweep: names of what varies, a row of values (numbers or texts) for each run, and the design."""

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    design: str = "grid"

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Value]:
        """Return the values of one name in all runs."""
        k = self.names.index(name)
        return [row[k] for row in self.rows]


def make_table(problem: Problem, varied: Varied, samples: int | None, design: str, seed: int) -> Table:
    """Return all combinations of listed values, each with as many draws of what is random.

    Lists make a grid. Distributions are drawn together, ``samples`` times, at random or as a Sobol sequence.
    """
    max_runs = 10_000_000
    if not isinstance(varied, Mapping) or not varied:
        raise SettingsError(f"what varies is a table such as {{'nu': [0.01, 0.02]}}, got {shown(varied)}.")
    known = [*problem.given["parameters"], *_initial_names(problem)]
    for name in varied:
        if name not in known:
            raise SettingsError(
                f"'{name}' is not a parameter of this problem; what can vary is {choices(known)}."
                f"{suggestion(str(name), known)}"
            )
    random = {name: v for name, v in varied.items() if isinstance(v, Normal | Uniform | LogUniform | GaussianField)}
    listed = {name: _values(name, v) for name, v in varied.items() if name not in random}
    if design not in ("random", "sobol", "saltelli"):
        raise SettingsError(f"design is 'random', 'sobol' or 'saltelli', got {shown(design)}.")
    if design == "saltelli" and (listed or any(isinstance(v, GaussianField) for v in random.values())):
        raise SettingsError(
            "design='saltelli' is for numbers with distributions; lists and random functions have none."
        )
    if bool(random) != (samples is not None):
        missing = (
            "say how many samples to draw: samples=100" if random else "samples is for distributions; leave it out"
        )
        raise SettingsError(f"{missing}.")
    if samples is not None and (not is_whole(samples) or not 1 <= samples <= max_runs):
        raise SettingsError(f"samples is a positive whole number, got {shown(samples)}.")
    count = math.prod(map(len, listed.values())) * (samples or 1)
    if count > max_runs:
        raise SettingsError(f"the sweep would have {count} runs; at most {max_runs} are made.")
    draws = _drawn(problem, random, samples or 1, design, seed)
    rows = []
    for values in product(*listed.values()):
        for drawn in draws:
            given = dict(zip(listed, values, strict=True)) | drawn
            rows.append(tuple(given[name] for name in varied))
    return Table(tuple(varied), tuple(rows), design if random else "grid")


def applied(problem: Problem, names: Sequence[str], row: Sequence[Value]) -> Problem:
    """Return the problem of one run."""
    from frozenpinn.statement.problem import Problem

    given = dict(zip(names, row, strict=True))
    start = {name: given.pop(name) for name in _initial_names(problem) if name in given}
    if start:
        whole = start.get(INITIAL) or _others(problem) | {name.split(".")[1]: value for name, value in start.items()}
        problem = Problem(domain=problem.stated, time=problem.time, **{**problem.given, INITIAL: whole})
    return problem.at(**given) if given else problem


def _others(problem: Problem) -> dict[str, Any]:
    """Return the initial data of a system by field, as they were given."""
    given = problem.given[INITIAL]
    return dict(given) if isinstance(given, Mapping) else dict(zip(problem.composites.names, given, strict=True))


def _initial_names(problem: Problem) -> list[str]:
    if problem.is_static or INITIAL in problem.given["parameters"]:
        return []
    names = problem.composites.names
    return [INITIAL] if len(names) == 1 else [f"{INITIAL}.{name}" for name in names]


def _values(name: str, given: Any) -> list[Value]:
    """Return the values of a list: numbers or texts, none of them twice."""
    if is_number(given) or isinstance(given, str) or not isinstance(given, Sequence | np.ndarray | range):
        raise SettingsError(
            f"'{name}' takes a list of values, or a distribution such as Normal(1, 0.1); got {shown(given)}."
        )
    values = (
        [float(v) if is_number(v) else v for v in np.ravel(given).tolist()]
        if isinstance(given, np.ndarray)
        else list(given)
    )
    values = [float(v) if is_number(v) else v for v in values]
    if not values:
        raise SettingsError(f"the list of '{name}' is empty.")
    for value in values:
        if not isinstance(value, str) and not (is_number(value) and math.isfinite(value)):
            raise SettingsError(f"'{name}' takes finite numbers or texts, got {shown(value)}.")
    if len(set(values)) < len(values):
        twice = next(v for k, v in enumerate(values) if v in values[:k])
        raise SettingsError(f"the list of '{name}' has {shown(twice)} twice.")
    return values


def _drawn(problem: Problem, random: Mapping[str, Any], samples: int, design: str, seed: int) -> list[dict[str, Value]]:
    """Draw all distributions together, each sample with a generator of its own: the first ones stay if more follow."""
    scalars = [name for name, v in random.items() if not isinstance(v, GaussianField)]
    unit = np.empty((samples, len(scalars)))
    if scalars and design == "sobol":
        from scipy.stats import qmc

        power = max(0, math.ceil(math.log2(samples)))
        unit = qmc.Sobol(len(scalars), rng=np.random.default_rng(seed)).random_base2(power)[:samples]
    if design == "saltelli":
        return _mixed(random, samples, seed)
    draws: list[dict[str, Value]] = []
    for k in range(samples):
        rng = np.random.default_rng([seed, k])
        if scalars and design == "random":
            unit[k] = rng.random(len(scalars))
        row: dict[str, Value] = {name: random[name].at(unit[k, i]) for i, name in enumerate(scalars)}
        for name, field in random.items():
            if isinstance(field, GaussianField):
                row[name] = field.draw(problem, rng)
        draws.append(row)
    return draws


def _mixed(random: Mapping[str, Any], samples: int, seed: int) -> list[dict[str, Value]]:
    """Return Saltelli's design: for each sample a row of A, the same with one column from B for each name, and B."""
    from scipy.stats import qmc

    names, d = list(random), len(random)
    power = max(0, math.ceil(math.log2(samples)))
    unit = qmc.Sobol(2 * d, rng=np.random.default_rng(seed)).random_base2(power)[:samples]
    draws = []
    for a, b in zip(unit[:, :d], unit[:, d:], strict=True):
        for row in (a, *(np.where(np.arange(d) == k, b, a) for k in range(d)), b):
            draws.append({name: random[name].at(row[i]) for i, name in enumerate(names)})
    return draws


def _check_numbers(value: Any, names: Sequence[str]) -> None:
    for name in names:
        if not between(getattr(value, name), -1e300, 1e300):
            raise SettingsError(f"{name} of {type(value).__name__} is a number, got {shown(getattr(value, name))}.")


@dataclass(frozen=True, eq=False)
class Places:
    """Where every solution is evaluated: axes of a grid, or points (n, d); and times, None for static problems."""

    coordinates: tuple[str, ...]
    axes: tuple[Array, ...]
    points: Array | None
    times: Array | None

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions of a field."""
        return (*(self.coordinates if self.points is None else ("point",)), *(() if self.times is None else ("t",)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of these."""
        space = tuple(map(len, self.axes)) if self.points is None else (len(self.points),)
        return (*space, *(() if self.times is None else (len(self.times),)))

    @property
    def where(self) -> tuple[Any, ...]:
        """Arguments of :meth:`Solution.to_xarray`."""
        return (*(self.axes if self.points is None else (self.points,)), *(() if self.times is None else (self.times,)))

    def coords(self) -> dict[str, Any]:
        """Return the coordinates of a dataset."""
        if self.points is None:
            space: dict[str, Any] = dict(zip(self.coordinates, self.axes, strict=True))
        else:
            space = {name: ("point", c) for name, c in zip(self.coordinates, self.points.T, strict=True)}
        return space | ({} if self.times is None else {"t": self.times})


@dataclass(frozen=True, eq=False)
class Definition:
    """Problem, runs, and how each is solved and evaluated."""

    problem: Problem
    table: Table
    places: Places
    tol: float | None
    seed: int
    settings: Settings
    time_limit: float | None = None
    memory_limit: float | None = None

    @cached_property
    def document(self) -> dict[str, Any]:
        """What is compared with a store: plain texts and numbers."""
        rows = json.dumps(self.table.rows)
        stated = problem_to_dict(self.problem) or {
            "problem": repr(self.problem),
            "functions": _functions(self.problem.given),
        }
        return {
            "format": FORMAT,
            **stated,
            "varied": list(self.table.names),
            "runs": len(self.table),
            "design": self.table.design,
            "values": hashlib.sha256(rows.encode()).hexdigest(),
            "tol": self.tol,
            "seed": self.seed,
            "settings": repr(self.settings),
            "time_limit": self.time_limit,
            "memory_limit": self.memory_limit,
            "axes": list(self.places.coordinates),
            "points": _digest(*(self.places.axes if self.places.points is None else (self.places.points,))),
            "times": None if self.places.times is None else _digest(self.places.times),
        }

    def check_same(self, stored: dict[str, Any], file: str) -> None:
        """Refuse a store that belongs to another sweep, and name the differences."""
        mine = json.loads(json.dumps(self.document))
        differing = [key for key in {**stored, **mine} if stored.get(key) != mine.get(key)]
        if differing:
            told = "; ".join(
                f"{key} ({_abridged(stored.get(key))} there, {_abridged(mine.get(key))} here)" for key in differing
            )
            raise StorageError(
                f"'{file}' belongs to another sweep; it differs in {told}. Take another file, or write overwrite=True "
                "to replace it."
            )


def make_places(problem: Problem, points: Any, times: Any) -> Places:
    """Read where solutions are evaluated: how many points and times, or which."""
    from frozenpinn.output.exporting import POINTS, uniform_axes, uniform_times

    domain = problem.stated
    own: Array | None = None
    axes: tuple[Array, ...] = ()
    array = (
        None
        if points is None or np.ndim(points) == 0
        else np.asarray(unmasked(points, "points are known", EvaluationError))
    )
    if array is not None and array.ndim == 2 and array.dtype.kind in "fiu":
        if array.shape[1] != domain.dimension or not np.all(domain.contains(array.astype(float))):
            raise EvaluationError(
                f"points is how many along each axis, or points of the domain of shape (n, {domain.dimension}); "
                f"got {shown(points)}."
            )
        own = array.astype(float)
    else:
        axes = tuple(uniform_axes(problem, POINTS.get(domain.dimension, 11) if points is None else points))
    return Places(domain.coordinates, axes, own, uniform_times(problem, 51 if times is None else times))


def _functions(value: Any) -> Any:
    """Return what distinguishes Python functions, wherever they stand in a statement: their code."""
    if isinstance(value, Mapping):
        return {str(key): _functions(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_functions(v) for v in value]
    code = getattr(value, "__code__", None)
    if code is not None:
        return f"{value.__name__} {hashlib.sha256(_bytes(code)).hexdigest()[:12]}"
    return type(value).__name__ if callable(value) else str(value)


def _bytes(code: CodeType) -> bytes:
    """Return the code of a function, and of those inside it."""
    constants = [_bytes(c) if isinstance(c, CodeType) else repr(c).encode() for c in code.co_consts]
    return b"".join([code.co_code, repr(code.co_names).encode(), *constants])


def _digest(*arrays: Array) -> str:
    told = " x ".join(str(len(a)) for a in arrays)
    raw = b"".join(np.ascontiguousarray(a, dtype="<f8").tobytes() for a in arrays)
    return f"{told} ({hashlib.sha256(raw).hexdigest()[:12]})"


def _abridged(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
