"""A transform of your own: what decays everywhere at the same rate is solved for without its decay.

    uₜ = uₓₓ − k u,  u = 0 at both ends:  u = e^(−kt) v,  vₜ = vₓₓ

``Decaying`` in the ``TRANSFORMS`` of transforms/__init__.py makes every solve ask it.
"""

from dataclasses import dataclass

import numpy as np

import frozenpinn as fp
from frozenpinn.statement.equation import split_right_side
from frozenpinn.transforms.views import Inner, Request, Transform, View


@dataclass(frozen=True)
class Decaying(Transform, View):
    """u = e^(−rate·t) v: the problem of v, and the view of u through it."""

    rate: float
    name = "decay"
    note = "everything decays at the same rate, which was split off"
    keeps_axes = True  # on a grid, u follows from v on the same grid

    @classmethod
    def propose(cls, problem: fp.Problem) -> "Decaying | None":
        """Return the decay of a single linear equation without sources and data at the sides."""
        (equation, *others), given = problem.equations, [c for c in problem.conditions if not c.value.is_zero]
        rate = -equation.linear.get(problem.jets.field(equation.field), 0)
        plain = equation.order == 1 and problem.is_linear and equation.forcing == 0 and not (others or given)
        return cls(float(rate)) if plain and rate != 0 and rate.is_number else None

    def forward(self, problem: fp.Problem) -> fp.Problem:
        """Return the problem of v."""
        (own,), jets = problem.equations, problem.jets
        right = own.right_side + self.rate * jets.symbol(jets.field(own.field))
        return problem.replaced(equations=(split_right_side(own.field, 1, right, jets),), exact={}, given={})

    def values(self, inner: Inner, request: Request) -> np.ndarray:
        """Return derivatives of u from those of v: uₜ = e^(−kt) (vₜ − k v)."""
        change = self.rate * inner(request._replace(time=0)) if request.time else 0.0
        return np.asarray(np.exp(-self.rate * request.places.mesh[-1]) * (inner(request) - change))


def main() -> None:
    exact = "exp(-(5 + pi**2)*t)*sin(pi*x)"
    problem = fp.Problem("u_t = u_xx - 5*u", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", exact=exact)
    form = Decaying.propose(problem)
    assert form is not None
    solution = fp.solve(form.forward(problem), tol=1e-9).seen_through(form.view(problem), problem)
    print(f"u(0.5, 1) = {solution(0.5, 1):.6e}, error {solution.error()['rel_l2']:.1e}")
    assert solution.error()["rel_l2"] < 1e-9


if __name__ == "__main__":
    main()
