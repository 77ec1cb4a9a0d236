"""The paper's first strategy: known functions that obey the conditions, represented by the hidden layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from frozenpinn.assembly.boundary import BoundaryData, boundary_rows
from frozenpinn.assembly.spaces import Space, compressed
from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import Truncation
from frozenpinn.errors import SettingsError, choices
from frozenpinn.runtime.arguments import as_functions, between, check_flag, columns, is_whole, shown, spelled
from frozenpinn.statement.laws import refuse_laws
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Family = Callable[[Array, int], Array]
_OUTER = "outer function"


def fourier(s: Array, count: int) -> Array:
    """Return cos(2πks), sin(2πks) for k = 1, 2, …: periodic on [0, 1]."""
    k = np.arange(count) // 2 + 1
    return np.where(np.arange(count) % 2 == 0, np.cos(2 * np.pi * np.outer(s, k)), np.sin(2 * np.pi * np.outer(s, k)))


def sine(s: Array, count: int) -> Array:
    """Return sin(πks) for k = 1, 2, …: zero at both ends of [0, 1]."""
    return np.sin(np.pi * np.outer(s, np.arange(1, count + 1)))


def cosine(s: Array, count: int) -> Array:
    """Return cos(πks) for k = 1, 2, …: zero slope at both ends of [0, 1]."""
    return np.cos(np.pi * np.outer(s, np.arange(1, count + 1)))


#: name: (functions on [0, 1], whether the constant belongs to the family)
FAMILIES: dict[str, tuple[Family, bool]] = {"fourier": (fourier, True), "sine": (sine, False), "cosine": (cosine, True)}


@spelled(SettingsError)
@dataclass(frozen=True)
class OuterBasis:
    """Boundary strategy: a basis of known functions, represented by the hidden layer.

    Parameters
    ----------
    functions
        ``"fourier"`` (periodic), ``"sine"`` (zero Dirichlet), ``"cosine"`` (zero Neumann), or a list
        of functions of the coordinate that obey the homogeneous conditions.
    count
        Number of functions of a named family.
    rcond
        Relative cut-off of the least-squares fit.
    contradictions
        Whether functions may contradict the conditions. The paper has such lists; the solution then does, too.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solution = fp.solve(rod, settings=fp.Settings(boundary=fp.boundary.OuterBasis("sine", count=8), width=60))
    >>> round(float(solution(0.5, 0.1)), 4)
    0.3727

    A list of functions of the coordinate does the same:

    >>> import numpy as np
    >>> outer = fp.boundary.OuterBasis([lambda x: np.sin(np.pi * x), lambda x: np.sin(2 * np.pi * x)])
    >>> round(float(fp.solve(rod, settings=fp.Settings(boundary=outer, width=60))(0.5, 0.1)), 4)
    0.3727
    """

    functions: str | Sequence[Callable[[Array], Array]] = "fourier"
    count: int = 14
    rcond: float = 1e-10
    contradictions: bool = False
    name: str = "outer-basis"
    renewable = False
    separable = False
    cutoff = None

    def __post_init__(self) -> None:
        if isinstance(self.functions, str) and self.functions not in FAMILIES:
            raise SettingsError(f"unknown outer basis '{self.functions}'; choose one of {choices(FAMILIES)}.")
        if not isinstance(self.functions, str):
            object.__setattr__(self, "functions", as_functions(self.functions, _OUTER))
            if not self.functions:
                raise SettingsError("an outer basis needs at least one function, got an empty list.")
        if not (is_whole(self.count) and self.count >= 1):
            raise SettingsError(f"an outer basis needs at least one function, got count={shown(self.count)}.")
        if not between(self.rcond, 0, 1):
            raise SettingsError(f"rcond of an outer basis must lie between 0 and 1, got {shown(self.rcond)}.")
        check_flag("contradictions", self.contradictions)

    def evaluate(self, x: Array, lower: float, upper: float) -> Array:
        """Return the outer functions at points of an interval, shape (n, count)."""
        if isinstance(self.functions, str):
            return FAMILIES[self.functions][0]((x - lower) / (upper - lower), self.count)
        return columns(self.functions, x, _OUTER)

    def apply(self, network: Network, lower: float, upper: float) -> Network:
        """Return the network spanned by the fitted outer functions (and the constant, if it complies)."""
        if network.hidden.dimension != 1 or len(network.fields) != 1:
            raise SettingsError("outer basis functions are available in one dimension, for uncoupled fields.")
        features = network.hidden.features(network.points.x)
        root = np.sqrt(network.points.weights)[:, None]
        targets = self.evaluate(network.points.x[:, 0], lower, upper)
        mixing = sla.lstsq(root * features, root * targets, cond=self.rcond)[0]
        _refuse_lost(root * targets, root * (features @ mixing))
        if isinstance(self.functions, str) and FAMILIES[self.functions][1]:
            constant = np.zeros((network.hidden.size, 1))
            constant[-1] = 1.0
            mixing = np.concatenate([mixing, constant], axis=1)
        return network.spanned_by(mixing)

    def build(self, network: Network, problem: Problem, cutoff: Truncation, per_side: int) -> Space:
        """Fit the outer functions and check that they obey the conditions."""
        refuse_laws(problem.laws, "boundary='outer-basis'")
        for condition in problem.conditions:
            if set(condition.fields) & set(network.fields) and not condition.value.is_zero:
                raise SettingsError(
                    f"outer basis functions need homogeneous conditions, but '{condition.text}' on side "
                    f"'{condition.side.name}' is not; use boundary='null-space'."
                )
        spanned = self.apply(network, float(problem.domain.lower[0]), float(problem.domain.upper[0]))
        if not self.contradictions:
            self._check_compliance(problem, spanned)
        order = problem.equation(network.fields[0]).order
        return Space(compressed(spanned, cutoff), BoundaryData(0, problem.time), order)

    def _check_compliance(self, problem: Problem, network: Network) -> None:
        """Refuse outer functions that do not obey the conditions they are meant to enforce.

        Of a named family, the first functions decide; the hidden layer may fit derivatives of the last ones poorly.
        """
        name = network.fields[0]
        few = slice(8 if isinstance(self.functions, str) else None)
        texts = [f"'{c.text}' on side '{c.side.name}'" for c in problem.conditions if name in c.fields]
        functionals = boundary_rows(problem, network.fields).functionals
        texts += ["periodicity"] * (len(functionals) - len(texts))
        for functional, text in zip(functionals, texts, strict=True):
            order = max(t.derivative.order for _, terms in functional.parts for t in terms)
            rows = sum(network.operator(x, terms)[:, few] for x, terms in functional.parts)
            scale = max(
                float(np.max(np.abs(network.evaluate(network.points.x, name, Derivative((k,)))[:, few])))
                for k in {0, order}
            )
            if np.max(np.abs(rows)) > 0.5 * scale:  # a poor fit is not a wrong family
                which = f"'{self.functions}'" if isinstance(self.functions, str) else f"given ({len(self.functions)})"
                raise SettingsError(
                    f"the outer basis functions {which} do not satisfy {text}. If the family is right "
                    "('fourier' for periodic, 'sine' for zero Dirichlet, 'cosine' for zero Neumann conditions), the "
                    "hidden layer is too narrow for it: use a larger width or a smaller count. Or use "
                    "boundary='null-space', or allow it by OuterBasis(…, contradictions=True)."
                )


def _refuse_lost(targets: Array, fits: Array) -> None:
    """Refuse functions of which nothing would be left, as no neurons fit them."""
    sizes, misfits = np.linalg.norm(targets, axis=0), np.linalg.norm(targets - fits, axis=0)
    for k, (size, misfit) in enumerate(zip(sizes, misfits, strict=True)):
        if misfit > 0.5 * size:
            raise SettingsError(
                f"the hidden layer can't represent {_OUTER} {k + 1} of {targets.shape[1]}: the fit is "
                f"{100 * misfit / size:.0f} % off. Use a larger width, fewer functions, more points, or pairs "
                "supervised by these functions: SWIM(…, functions=…, candidates=10)."
            )
