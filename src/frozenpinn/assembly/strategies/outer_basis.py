"""The paper's first strategy: known functions that obey the conditions, represented by the hidden layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frozenpinn.assembly.boundary import BoundaryData, boundary_rows
from frozenpinn.assembly.spaces import Space, compressed
from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.network import Network
from frozenpinn.basis.outer_basis import OuterFunctions
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled
from frozenpinn.statement.laws import refuse_laws
from frozenpinn.statement.problem import Problem


@spelled(SettingsError)
@dataclass(frozen=True)
class OuterBasis(OuterFunctions):
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

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solution = fp.solve(rod, settings=fp.Settings(boundary=fp.boundary.OuterBasis("sine", count=8), width=60))
    >>> round(float(solution(0.5, 0.1)), 4)
    0.3727
    """

    name: str = "outer-basis"
    renewable = False
    separable = False
    cutoff = None

    def build(self, network: Network, problem: Problem, cutoff: float | None, per_side: int) -> Space:
        """Fit the outer functions and check that they obey the conditions."""
        refuse_laws(problem.laws, "boundary='outer-basis'")
        for condition in problem.conditions:
            if set(condition.fields) & set(network.fields) and not condition.value.is_zero:
                raise SettingsError(
                    f"outer basis functions need homogeneous conditions, but '{condition.text}' on side "
                    f"'{condition.side.name}' is not; use boundary='null-space'."
                )
        spanned = self.apply(network, float(problem.domain.lower[0]), float(problem.domain.upper[0]))
        self._check_compliance(problem, spanned)
        order = problem.equation(network.fields[0]).order
        return Space(compressed(spanned, cutoff), BoundaryData(0, problem.time), order)

    def _check_compliance(self, problem: Problem, network: Network) -> None:
        """Refuse outer functions that do not obey the conditions they are meant to enforce.

        Of a named family, the first functions tell; the hidden layer may fit derivatives of the last ones poorly.
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
                raise SettingsError(
                    f"the outer basis functions '{self.functions}' do not satisfy {text}. If the family is right "
                    "('fourier' for periodic, 'sine' for zero Dirichlet, 'cosine' for zero Neumann conditions), the "
                    "hidden layer is too narrow for it: use a larger width or a smaller count. Or use "
                    "boundary='null-space'."
                )
