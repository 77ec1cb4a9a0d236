"""What a user may choose of the numerics, and what a single solve is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from frozenpinn.assembly.strategies import BoundaryStrategy
from frozenpinn.basis.samplers import Sampler
from frozenpinn.basis.svd_layer import SVDLayer
from frozenpinn.errors import SettingsError, choices, suggestion, warn
from frozenpinn.integrators import Integrator
from frozenpinn.runtime.arguments import MAX_NUMBER, between, check_flag, is_number, is_whole, shown, spelled
from frozenpinn.runtime.decisions import FIXED, OPTIONAL, Decision
from frozenpinn.search.patches import Patches
from frozenpinn.search.rules import FINEST, Rules, SearchRules
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms import TRANSFORMS

if TYPE_CHECKING:
    from frozenpinn.results.event import Stop
    from frozenpinn.results.quantity import Quantity
    from frozenpinn.search.kind import Kind

Directions: TypeAlias = Sequence[Sequence[float]] | np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class Windows:
    """How a basis is renewed in time: on intervals, and on boxes in two and three dimensions.

    Parameters
    ----------
    count
        Number of windows of equal length, each with a new basis; None renews the basis when, and only when, it stops
        resolving the solution.
    floor
        Share of points and neurons that is spread evenly; the rest follows |uₓ|, on each axis of a box the largest
        slope across the others.
    threshold
        Share of the solution that the finest tenth of the basis may carry; None takes the accuracy in time, ``rtol``.
        Only for ``count=None``.
    widest
        How far the number of neurons may grow, as a multiple of the first, if a new basis of the same size does not
        do. Only for ``count=None``.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.Settings(windows=fp.Windows(count=9)).windows.count
    9
    """

    count: int | None = None
    floor: float = 0.3
    threshold: float | None = None
    widest: float = 3.0

    def __post_init__(self) -> None:
        check_windows(self.count)
        if not is_number(self.floor) or not 0 < self.floor <= 1:
            raise SettingsError(f"the floor of the density of points must lie between 0 and 1, got {self.floor!r}.")
        if self.threshold is not None and not (is_number(self.threshold) and 0 < self.threshold < 1):
            raise SettingsError(f"the threshold of windows must lie between 0 and 1, got {self.threshold!r}.")
        if not is_number(self.widest) or not self.widest >= 1:
            raise SettingsError(f"widest is a multiple of the width and at least 1, got {self.widest!r}.")


@spelled(SettingsError)
@dataclass(frozen=True)
class Settings:
    """Numerical choices of a solve; each has a default that suits most problems.

    Parameters
    ----------
    width
        Number of neurons; on boxes in two and three dimensions per axis, where a tuple gives each axis its own. On a
        periodic interval ``(256,)`` asks for as many waves instead.
    points
        Number of quadrature points (per axis on boxes in two and three dimensions, or a tuple).
    sampler
        ``"multi-scale"``, ``"elm"``, ``"swim"``, ``"orthogonal"`` (isotropic functions of many variables),
        ``"projected-swim"`` (pairs along the gradients of the initial value), ``"sines"`` (those of products on boxes)
        or a sampler object, which then also sets the width.
    point_method
        ``"gauss"``, ``"uniform"``, ``"sobol"``, ``"latin-hypercube"``, ``"random"`` or ``"auto"``.
    boundary_points
        Number of points on the whole boundary in several dimensions, evenly shared by the sides; by default enough to
        see every feature.
    boundary
        ``"null-space"``, ``"outer-basis"``, ``"augmented-ode"``, or an object of these kinds. By default the null space
        up to three dimensions, the augmented ODE beyond.
    cutoff
        Relative cut-off of the SVD layer; ``"auto"`` takes the finest that is stable, None leaves the layer out, a
        :class:`~frozenpinn.stages.SVDLayer` sets its rank and scaling.
    quadrature
        Whether points carry quadrature weights in all least squares fits. The paper gives all points the same weight:
        False.
    rcond
        Relative cut-off of the least-squares fit of the initial data; None follows the SVD layer.
    integrator
        ``"exact"``, ``"exponential"``, ``"etd"``, ``"cvode"``, ``"cvode-adams"``, ``"rk45"``, ``"rk23"``,
        ``"dop853"``, ``"lsoda"``, ``"radau"``, ``"bdf"``, ``"radau-iia"``, an integrator object, or None for a choice
        by structure.
    rtol
        Relative accuracy of the time integration, and of the basis where it follows the solution. By default it follows
        ``tol``; 1e-8 without.
    windows
        How the basis is renewed in time: ``"auto"`` renews it when it stops resolving the solution of a nonlinear
        problem (unless sampler, boundary strategy or an integrator object are given that can't follow), ``"adaptive"``
        insists on that, a number gives as many equal windows, None or 1 keeps one basis, :class:`Windows` sets the
        details. On boxes in two and three dimensions ``"auto"`` does so if a tolerance is given and a solve has shown a
        front along an axis that a much wider network would be needed for; oblique fronts get width.
    subspace
        Directions (k, d) on which the solution depends; it is then solved in these k coordinates, which the settings
        above refer to. ``"auto"`` looks whether one to three directions are enough on boxes and balls, unless width,
        points, sampler or boundary strategy are given, and checks the result in all coordinates; None does not look.
    scale
        The smallest scale on which Python functions of the problem may vary, as a part of the domain and of the time;
        they are sampled twice as finely. By default 1/256. Formulas need no such hint.
    relative_to
        What the tolerance and estimated errors are relative to: a number, or one for each field, in its unit:
        ``{"T": 100}``. By default how much a field varies.
    without
        Names of decisions that the program is to do without, such as ``("logarithm", "corners")``; those of a solve are
        in ``solution.decisions``.
    basis
        :class:`Patches` divides a plane domain into local networks, for problems of second order, static and in time;
        None leaves the choice to the program.
    rules
        The tuned numbers behind everything that is chosen by the program.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod, settings=fp.Settings(width=30, integrator="cvode")).integrator
    'cvode-bdf'

    All points alike, as in the paper, and its SVD layer V_rᵀA:

    >>> literal = fp.Settings(width=30, quadrature=False, cutoff=fp.stages.SVDLayer(1e-10, orthonormal=False))
    >>> round(float(fp.solve(rod, settings=literal)(0.5, 0.1)), 6)
    0.372708
    """

    width: int | tuple[int, ...] | None = None
    points: int | tuple[int, ...] | None = None
    sampler: str | Sampler | None = None
    point_method: str = "auto"
    boundary_points: int | None = None
    boundary: str | BoundaryStrategy | None = None
    cutoff: float | SVDLayer | Literal["auto"] | None = "auto"
    quadrature: bool = True
    rcond: float | None = None
    integrator: str | Integrator | None = None
    rtol: float | None = None
    windows: int | str | Windows | None = "auto"
    subspace: Literal["auto"] | Directions | None = "auto"
    scale: float | None = None
    relative_to: float | Mapping[str, float] | tuple[tuple[str, float], ...] | None = None
    without: tuple[str, ...] = ()
    basis: Patches | None = None
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        for name in ("width", "points", "subspace", "without"):
            object.__setattr__(self, name, _own(getattr(self, name)))
        if isinstance(self.relative_to, Mapping):  # as pairs, which do not change when the user's own does
            object.__setattr__(self, "relative_to", tuple(self.relative_to.items()))
        check_kinds(self)
        if not isinstance(self.windows, str | Windows):
            check_windows(self.windows)

    def scales(self, problem: Problem) -> dict[str, float]:
        """Return what errors of real fields are to be relative to, where the user has said it."""
        named = self.relative_to
        if named is None or isinstance(named, Mapping):  # which is a tuple of pairs by now
            return {}
        if not isinstance(named, tuple):
            return dict.fromkeys(problem.fields, float(named))
        if unknown := [name for name, _ in named if name not in (*problem.composites.names, *problem.fields)]:
            raise SettingsError(
                f"relative_to has {shown(unknown[0])}, which is no field; the fields are "
                f"{choices(problem.composites.names)}."
            )
        return {part: float(value) for name, value in named for part in problem.composites.parts(name)}


def _own(given: Any) -> Any:
    """Return a list or an array as a tuple, which does not change when the user's own one does."""
    if isinstance(given, np.ndarray) and given.size:
        given = given.tolist()
    return tuple(map(_own, given)) if isinstance(given, list) else given


class Sizes(NamedTuple):
    """How large a solve of effort one is, and whether its basis follows the solution: known before, or learned.

    Attributes
    ----------
    width
        Neurons; on products a width for each axis. None leaves it to the settings.
    follows
        Whether the basis is renewed where that may help.
    held
        Widths that resolved axes keep, 0 for those that grow; empty if all do.
    decisions
        How they were found.
    dimension
        That of the problem in which they were needed: they are of no use for another.
    """

    width: int | tuple[int, ...] | None
    follows: bool
    held: tuple[int, ...] = ()
    decisions: tuple[Decision, ...] = ()
    dimension: int = 0

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the axes, or the only one."""
        return self.width if isinstance(self.width, tuple) else () if self.width is None else (self.width,)

    def of_widths(self, widths: Sequence[int]) -> Sizes:
        """Return other widths of the same kind."""
        return self._replace(width=tuple(widths) if isinstance(self.width, tuple) else widths[0])

    def scaled(self, factor: float) -> Sizes:
        """Return other widths."""
        return self.of_widths([max(4, round(factor * w)) for w in self.widths])

    @property
    def kind(self) -> tuple[int, int]:
        """What sizes must have in common to be compared: the dimension, and the number of widths."""
        return self.dimension, len(self.width) if isinstance(self.width, tuple) else 0

    @classmethod
    def mean(cls, weighted: Sequence[tuple[Sizes, float]]) -> Sizes:
        """Return the weighted mean of sizes of one kind, rounded up."""
        total = sum(weight for _, weight in weighted)
        sums = [
            sum(w * weight for w, (_, weight) in zip(axis, weighted, strict=True))
            for axis in zip(*(sizes.widths for sizes, _ in weighted), strict=True)
        ]
        return weighted[0][0].of_widths([ceil(one / total - 1e-6) for one in sums])

    def as_list(self) -> list[Any]:
        """Return plain numbers."""
        return [self.dimension, list(self.width) if isinstance(self.width, tuple) else self.width, self.follows]

    @classmethod
    def of_list(cls, stored: Sequence[Any]) -> Sizes:
        """Read what :meth:`as_list` has written."""
        dimension, width, follows = stored
        width = tuple(map(int, width)) if isinstance(width, list) else int(width)
        return cls(width, bool(follows), dimension=int(dimension))


@dataclass(frozen=True)
class Task:
    """One solve: the user's settings, and what the search for a tolerance decides from solve to solve.

    Attributes
    ----------
    settings
        What the user has fixed.
    seed
        Of neurons and points.
    tolerances
        What is asked of the solution and in time.
    effort
        How much wider than first thought the network is to be.
    memory
        Bytes that may be used; None for as many as there are.
    start
        What Newton's method starts from in a static problem; None leaves it open.
    first
        Sizes to start from; None looks for them.
    asked
        The seed that the user has given; None if it is ``seed``.
    kind
        Who solves it; None for what is planned here and solved elsewhere.
    quantity
        The number, or the time of an event, whose error has to meet the tolerance; None for the fields.
    """

    settings: Settings
    seed: int
    tolerances: Tolerances
    effort: float = 1.0
    memory: float | None = None
    start: Any = None
    first: Sizes | None = None
    asked: int | None = None
    kind: Kind | None = None
    quantity: Quantity | Stop | None = None

    def again(self, solution: Any, values: Mapping[str, Any]) -> Any:
        """Solve the problem of a solution of this task for other values of parameters."""
        from frozenpinn.search.search import solve_again

        return solve_again(solution, self, values)

    @property
    def rules(self) -> Rules:
        """The tuned numbers."""
        return self.settings.rules

    @property
    def grows(self) -> bool:
        """Whether the width is left open."""
        return self.settings.width is None and isinstance(self.settings.sampler, str | None)


def warn_of_contradictions(settings: Settings, tol: float) -> None:
    """Warn about settings that are coarser than the tolerance: they are kept, and the tolerance may not be met."""
    integrator = getattr(settings.integrator, "rtol", None)
    coarse = [
        ("rtol", settings.rtol),
        ("the integrator's rtol", integrator),
        ("cutoff", getattr(settings.cutoff, "cutoff", settings.cutoff)),
        ("rcond", settings.rcond),
        ("the threshold of windows", getattr(settings.windows, "threshold", None)),
    ]
    for name, value in coarse:
        if isinstance(value, int | float | np.floating) and value > tol:
            warn(
                f"{name} = {value:g} contradicts tol={tol:g}, which asks for more accuracy; leave it out, or write "
                f"tol={value:g}."
            )


# ---- tolerances ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tolerances:
    """What is asked of a solve, and what follows for its stages.

    Attributes
    ----------
    solution
        Relative L² error asked of every field; None if none was given.
    time
        Relative accuracy of the time integration as a whole, and of a basis that follows the solution.

    Examples
    --------
    >>> Tolerances.of(1e-6, None)
    Tolerances(solution=1e-06, time=3e-07)
    >>> Tolerances.of(None, None).steps
    1e-10
    """

    solution: float | None
    time: float

    @classmethod
    def of(cls, tol: float | None, rtol: float | None, rules: SearchRules | None = None) -> Tolerances:
        """Return what follows from the user's tolerances; ``rtol`` is that in time, if one insists on it."""
        default_rtol = 1e-8  # relative accuracy in time if nothing is asked for
        if rtol is None:
            part = (SearchRules() if rules is None else rules).first_rtol
            rtol = default_rtol if tol is None else max(part * tol, FINEST)
        return cls(tol, float(rtol))

    @property
    def steps(self) -> float:
        """Local accuracy of an integrator: errors of many steps add up."""
        return max(1e-2 * self.time, FINEST)

    @property
    def windows(self) -> float:
        """Share of the solution that the finest functions of a basis may carry."""
        return max(self.time, 1e-12)

    @property
    def reduction(self) -> float:
        """Relative residual in all coordinates up to which a solution on a subspace is accepted."""
        return max(1e-6, 100.0 * self.time)

    def tighter(self, factor: float) -> Tolerances:
        """Return those of a finer solve."""
        return replace(self, time=max(factor * self.time, FINEST))


def read_tolerance(tol: float | None, *limits: float | None) -> float | None:
    """Check a tolerance; one below what double precision can reach is raised, with a warning.

    Limits bound the search for a tolerance, so that where some are given without one, it is the usual one.
    """
    usual = 1e-6
    if tol is None:
        return usual if any(limit is not None for limit in limits) else None
    if not is_number(tol) or not 0 < tol < 1:
        raise SettingsError(f"tol must lie between 0 and 1, got {shown(tol)}; write for example tol=1e-6.")
    if tol < FINEST:
        warn(f"tol={tol:g} is below what double precision can reach; tol={FINEST:g} is taken instead.")
    return max(float(tol), FINEST)


# ---- checks --------------------------------------------------------------------------------------------------------


_OBJECTS = {
    "sampler": ("sample", "fp.samplers.SWIM(400)"),
    "integrator": ("integrate", "fp.integrators.CVODE()"),
    "boundary": ("build", "fp.boundary.NullSpaceLayer()"),
}


def check_kinds(settings: Any) -> None:
    """Refuse settings of a kind that they can't have, such as a class instead of an object of it."""
    for name, (method, example) in _OBJECTS.items():
        if not isinstance(given := getattr(settings, name), str | None):
            _check_object(name, given, method, example)
    if settings.width is not None:
        _check_counts("width", settings.width, "a positive whole number of neurons")
    if settings.points is not None:
        _check_counts("points", settings.points, "a whole number from 2 on (or one per axis)", 2)
    if settings.boundary_points is not None:
        _check_counts("boundary_points", settings.boundary_points, "a positive whole number", several=False)
    if not (settings.cutoff is None or isinstance(settings.cutoff, SVDLayer) or str(settings.cutoff) == "auto"):
        _check_between("the SVD cut-off", settings.cutoff)
    check_flag("quadrature", settings.quadrature)
    literal = "quadrature=False" if not settings.quadrature else "an SVDLayer"
    if isinstance(settings.width, tuple) and (not settings.quadrature or isinstance(settings.cutoff, SVDLayer)):
        raise SettingsError(
            f"width={settings.width} asks for a product of networks, which can't have {literal}; write one number for "
            f"width, or leave {literal} out."
        )
    if settings.rcond is not None and not between(settings.rcond, 0, 1):
        raise SettingsError(f"rcond must lie between 0 and 1, or be None; got {shown(settings.rcond)}.")
    if settings.rtol is not None:
        _check_between("rtol", settings.rtol)
    if not isinstance(settings.point_method, str):
        raise SettingsError(f"point_method is a name such as 'gauss' or 'auto', got {shown(settings.point_method)}.")
    if settings.relative_to is not None:
        _check_scales(settings.relative_to)
    if settings.without != ():
        _check_without(settings.without)
    if not isinstance(settings.basis, Patches | None):
        raise SettingsError(f"basis is fp.Patches() or None, got {shown(settings.basis)}.")
    if not isinstance(settings.rules, Rules):
        raise SettingsError(f"rules is a value such as fp.Rules(), got {shown(settings.rules)}.")


def check_windows(count: Any) -> None:
    """Refuse a number of windows that is none, or that no solve would live through."""
    max_windows = 10_000
    if count is not None and not (is_whole(count) and 1 <= count <= max_windows):
        most = f" up to {max_windows}" if is_whole(count) and count > max_windows else ""
        raise SettingsError(f"windows must be a positive whole number{most}, or None to adapt; got {shown(count)}.")


def optional_decisions() -> tuple[str, ...]:
    """Return the names of all that can be switched off; every transform of the list can."""
    return tuple(dict.fromkeys([*OPTIONAL, *(transform.name for transform in TRANSFORMS)]))


def _check_scales(given: Any) -> None:
    """Refuse what errors can't be relative to."""
    values = [value for _, value in given] if isinstance(given, tuple) else [given]
    if not all(between(value, 0, MAX_NUMBER) and value > 0 for value in values):
        raise SettingsError(
            "relative_to is a positive number, or one for each field as in relative_to={'u': 100}; got "
            f"{shown(dict(given) if isinstance(given, tuple) else given)}."
        )


def _check_without(given: Any) -> None:
    """Refuse names of decisions that there are not, or that nothing can do without."""
    if not isinstance(given, tuple):
        raise SettingsError(f"without is a tuple of names such as ('logarithm',), got {shown(given)}.")
    optional = optional_decisions()
    for name in given:
        if isinstance(name, str) and name in optional:
            continue
        known = isinstance(name, str) and name in FIXED
        what = f"'{name}' can't be switched off" if known else f"without={shown(name)} is no decision"
        hint = suggestion(name, optional) if isinstance(name, str) and not known else ""
        raise SettingsError(f"{what}; those that can be switched off are {choices(optional)}.{hint}")


def _check_object(name: str, given: Any, method: str, example: str) -> None:
    finest_rtol = 1e-15
    if isinstance(given, type):
        raise SettingsError(f"{name} is the class {given.__name__}; give an object of it, such as {example}.")
    if hasattr(given, "free_symbols") or not callable(getattr(given, method, None)):  # SymPy's have integrate(), too
        raise SettingsError(
            f"{name} is a name, or an object with a method '{method}' such as {example}; got {shown(given)}."
        )
    for number in fields(given) if is_dataclass(given) else ():
        value = getattr(given, number.name)
        if is_number(number.default) and not between(value, 0, MAX_NUMBER):
            raise SettingsError(
                f"{number.name} of the {name} is a number such as {number.default}, got {shown(value)}."
            )
    if hasattr(given, "rtol") and not between(given.rtol, finest_rtol, 1):
        raise SettingsError(
            f"rtol of the {name} must lie between {finest_rtol:g}, as double precision has it, and 1; "
            f"got {shown(given.rtol)}."
        )


def _check_counts(name: str, given: Any, wanted: str, least: int = 1, *, several: bool = True) -> None:
    counts = given if several and isinstance(given, tuple) else [given]
    if not len(counts) or not all(is_whole(n) and between(n, least, MAX_NUMBER) for n in counts):
        raise SettingsError(f"{name} must be {wanted}, got {shown(given)}.")


def _check_between(name: str, given: Any) -> None:
    if not between(given, 5e-324, 1 - 2**-53):
        raise SettingsError(f"{name} must lie between 0 and 1, got {shown(given)}.")
