"""Predator and prey that also diffuse: a nonlinear system, checked by a manufactured solution.

    uₜ = d₁ uₓₓ + u (1 − v) + f(x, t),   vₜ = d₂ vₓₓ + v (u − 1) + g(x, t),   x ∈ [0, 1],  uₓ = vₓ = 0 at both ends

To trust a program on a problem without known solution, choose u and v, and put into f and g what is then left
over. SymPy does the algebra, and expressions go into a problem as they are.
"""

import sympy as sp

import frozenpinn as fp

x, t = sp.symbols("x t")


def manufactured() -> fp.Problem:
    """Return the problem whose solution is u and v below."""
    d1, d2 = sp.Rational(1, 100), sp.Rational(1, 20)
    u = 1 + sp.exp(-t) * sp.cos(sp.pi * x) / 2
    v = 2 + sp.sin(2 * t) * sp.cos(2 * sp.pi * x) / 2
    f = sp.diff(u, t) - (d1 * sp.diff(u, x, 2) + u * (1 - v))
    g = sp.diff(v, t) - (d2 * sp.diff(v, x, 2) + v * (u - 1))
    return fp.Problem(
        {"u": "d1*u_xx + u*(1 - v) + f", "v": "d2*v_xx + v*(u - 1) + g"},  # right-hand sides of u_t and v_t
        domain=fp.Interval(0, 1),
        time=(0, 2),
        initial={"u": u.subs(t, 0), "v": v.subs(t, 0)},
        boundary=fp.Neumann(0),
        parameters={"d1": d1, "d2": d2, "f": f, "g": g},
        exact={"u": u, "v": v},
    )


def main() -> None:
    # Had u or v been mistyped, the statement itself would warn that they do not satisfy the equations.
    problem = manufactured()
    solution = fp.solve(problem)
    print(solution.report)
    print(f"prey and predators at x = 0, t = 2: {solution(0, 2, field='u'):.8f}, {solution(0, 2, field='v'):.8f}")

    for field in problem.fields:
        error = solution.error(field)["rel_l2"]
        assert error < 5e-8, (field, error)


if __name__ == "__main__":
    main()
