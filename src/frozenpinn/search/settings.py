"""What a user may choose of the numerics, and what a single solve is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from frozenpinn.assembly.strategies import BoundaryStrategy
from frozenpinn.basis.samplers import Sampler
from frozenpinn.errors import SettingsError, warn
from frozenpinn.integrators import Integrator
from frozenpinn.runtime.arguments import is_number, spelled
from frozenpinn.search.rules import Rules
from frozenpinn.search.settings_validation import check_kinds, check_windows
from frozenpinn.search.tolerances import Tolerances

if TYPE_CHECKING:
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
        Relative cut-off of the SVD layer; ``"auto"`` takes the finest that is stable, None leaves the layer out.
    rcond
        Relative cut-off of the least-squares fit of the initial data; None follows the SVD layer.
    integrator
        ``"exact"``, ``"exponential"``, ``"etd"``, ``"cvode"``, ``"cvode-adams"``, ``"rk45"``, ``"rk23"``,
        ``"dop853"``, ``"lsoda"``, ``"radau"``, ``"bdf"``, an integrator object, or None for a choice by structure.
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
    without
        Names of decisions that the program is to do without, such as ``("logarithm", "corners")``; those of a solve are
        in ``solution.decisions``.
    rules
        The tuned numbers behind everything that is chosen by the program.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod, settings=fp.Settings(width=30, integrator="cvode")).integrator
    'cvode-bdf'
    """

    width: int | tuple[int, ...] | None = None
    points: int | tuple[int, ...] | None = None
    sampler: str | Sampler | None = None
    point_method: str = "auto"
    boundary_points: int | None = None
    boundary: str | BoundaryStrategy | None = None
    cutoff: float | Literal["auto"] | None = "auto"
    rcond: float | None = None
    integrator: str | Integrator | None = None
    rtol: float | None = None
    windows: int | str | Windows | None = "auto"
    subspace: Literal["auto"] | Directions | None = "auto"
    scale: float | None = None
    without: tuple[str, ...] = ()
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        for name in ("width", "points", "subspace", "without"):
            object.__setattr__(self, name, _own(getattr(self, name)))
        check_kinds(self)
        if not isinstance(self.windows, str | Windows):
            check_windows(self.windows)


def _own(given: Any) -> Any:
    """Return a list or an array as a tuple, which does not change when the user's own one does."""
    if isinstance(given, np.ndarray) and given.size:
        given = given.tolist()
    return tuple(map(_own, given)) if isinstance(given, list) else given


class First(NamedTuple):
    """Sizes from which a search starts because a similar problem has needed them: a width, or one for each axis.

    ``dimension`` is that of the problem in which they were needed; they are of no use for another.
    """

    dimension: int
    width: int | tuple[int, ...]
    follows: bool

    def scaled(self, factor: float) -> First:
        """Return other widths."""
        width = self.width
        wider = (
            tuple(max(4, round(factor * w)) for w in width)
            if isinstance(width, tuple)
            else max(4, round(factor * width))
        )
        return self._replace(width=wider)

    @property
    def kind(self) -> tuple[int, int]:
        """What sizes must have in common to be compared: the dimension, and the number of widths."""
        return self.dimension, len(self.width) if isinstance(self.width, tuple) else 0

    @classmethod
    def mean(cls, weighted: Sequence[tuple[First, float]]) -> First:
        """Return the weighted mean of sizes of one kind, rounded up."""
        first, total = weighted[0][0], sum(weight for _, weight in weighted)
        rows = [(w.width if isinstance(w.width, tuple) else (w.width,), weight) for w, weight in weighted]
        width = tuple(ceil(sum(r[k] * weight for r, weight in rows) / total - 1e-6) for k in range(len(rows[0][0])))
        return first._replace(width=width if isinstance(first.width, tuple) else width[0])

    def as_list(self) -> list[Any]:
        """Return plain numbers."""
        return [self.dimension, list(self.width) if isinstance(self.width, tuple) else self.width, self.follows]

    @classmethod
    def of_list(cls, stored: Sequence[Any]) -> First:
        """Read what :meth:`as_list` has written."""
        dimension, width, follows = stored
        return cls(int(dimension), tuple(map(int, width)) if isinstance(width, list) else int(width), bool(follows))


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
    """

    settings: Settings
    seed: int
    tolerances: Tolerances
    effort: float = 1.0
    memory: float | None = None
    start: Any = None
    first: First | None = None
    asked: int | None = None
    kind: Kind | None = None

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
        ("cutoff", settings.cutoff if not isinstance(settings.cutoff, str) else None),
        ("rcond", settings.rcond),
        ("the threshold of windows", getattr(settings.windows, "threshold", None)),
    ]
    for name, value in coarse:
        if isinstance(value, int | float | np.floating) and value > tol:
            warn(
                f"{name} = {value:g} contradicts tol={tol:g}, which asks for more accuracy; leave it out, or write "
                f"tol={value:g}."
            )
